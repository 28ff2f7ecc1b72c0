// Streamlit's own elements that scripts need. It may rename them with any version: a browser test finds each on a page.

export const STREAMLIT = {
  app: ".stApp",
  connection: "data-test-connection-state", // of the app: whether the server answers
  script: "data-test-script-state", // of the app: whether the page's script runs
  main: "[data-testid=stMain]", // what scrolls
  tables: "[data-testid=stTable] > div",
  entry: ":is([data-testid=stTopNavLink], [data-testid=stSidebarNavLink])", // of the bar, and where it is a drawer
  close: "[data-testid=stSidebarCollapseButton] button", // of the drawer
  lost: ".stDialog:not(:has([data-testid=stVerticalBlock])) [aria-label=Close]", // of the dialog that no page has opened
}
