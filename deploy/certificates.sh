#!/bin/sh
# One authority and one certificate, which scheduler, workers and app share, and tls.env, which names them to Dask:
#     sh deploy/certificates.sh ~/attention-lab-tls && . ~/attention-lab-tls/tls.env
# Dask checks that a certificate comes from the authority, not which computer it names. Anybody who has own.pem can run code on the workers.
set -eu
mkdir -p "$1"
cd "$1"
umask 077
openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj "/CN=Attention Lab authority" -keyout ca-key.pem -out ca.pem 2>/dev/null
openssl req -newkey rsa:3072 -nodes -subj "/CN=Attention Lab" -keyout own-key.pem -out own.csr 2>/dev/null
openssl x509 -req -in own.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 365 -out own-cert.pem 2>/dev/null
cat own-key.pem own-cert.pem > own.pem
rm own.csr own-key.pem own-cert.pem
{
  echo "export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=true"
  echo "export DASK_DISTRIBUTED__COMM__TLS__CA_FILE='$PWD/ca.pem'"
  for role in SCHEDULER WORKER CLIENT; do
    echo "export DASK_DISTRIBUTED__COMM__TLS__${role}__CERT='$PWD/own.pem'"
    echo "export DASK_DISTRIBUTED__COMM__TLS__${role}__KEY='$PWD/own.pem'"
  done
} > tls.env
