// The component that is a band.

import { bands, bandsChanged } from "./band.js"

export default function ({ data: [name], parentElement }) {
  bands.set(name, parentElement.querySelector(".band"))
  bandsChanged.forEach((place) => place())
  return () => bands.delete(name)
}
