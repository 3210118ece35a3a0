"""Certificates made at test time with the openssl program: one authority, a server certificate, client
certificates."""

import subprocess
from pathlib import Path


def _openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Authority:
    """A certificate authority in `directory`; its certificate is `ca_file`."""

    def __init__(self, directory: Path, name="Sluice test authority"):
        self.directory = directory
        self.ca_file = directory / "ca.crt"
        self.ca_key = directory / "ca.key"
        _openssl(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "30",
            "-subj",
            f"/CN={name}",
            "-keyout",
            str(self.ca_key),
            "-out",
            str(self.ca_file),
        )

    def issue(self, file_name, common_name, hosts=()):
        """Issues a certificate; returns (certificate file, key file). `hosts` become subject alternative
        names."""
        key, request, certificate = (self.directory / f"{file_name}.{end}" for end in ("key", "csr", "crt"))
        _openssl(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-subj",
            f"/CN={common_name}",
            "-keyout",
            str(key),
            "-out",
            str(request),
        )
        extension = self.directory / f"{file_name}.ext"
        names = [f"{'IP' if host[0].isdigit() else 'DNS'}:{host}" for host in hosts]
        extension.write_text(
            f"subjectAltName={','.join(names)}\n" if names else "basicConstraints=CA:FALSE\n"
        )
        _openssl(
            "x509",
            "-req",
            "-in",
            str(request),
            "-CA",
            str(self.ca_file),
            "-CAkey",
            str(self.ca_key),
            "-CAcreateserial",
            "-days",
            "30",
            "-extfile",
            str(extension),
            "-out",
            str(certificate),
        )
        key.chmod(0o600)
        return certificate, key
