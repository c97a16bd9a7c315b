"""`aj record`: create keys, sign agent records and memory bundles, and verify them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_journal.cli._run import FAILED
from agent_journal.errors import AgentJournalError, UnreadableSource
from agent_journal.terminal import show, show_json

if TYPE_CHECKING:
    from agent_journal.records.signing.record import Verdict

_SUFFIX = ".sig.cbor"
_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_SETTINGS, no_args_is_help=False)
def command() -> None:
    """Sign agent records and memory bundles, and verify that they are unchanged."""


@command.command("keygen", context_settings=_SETTINGS)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the keys.",
)
def keygen(output: Path) -> None:
    """Create an Ed25519 key pair.

    Keep signing-key.pem secret, and give signing-key.pub.pem to those who verify your records.
    """
    from agent_journal.records.signing import keys  # noqa: PLC0415 (slow to import)

    for path in keys.generate(output):
        show(str(path))


@command.command("sign", context_settings=_SETTINGS)
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RECORD...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The private key (PEM).")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="File for the signature, or a folder if PATH ends with / or is one. Default: next to each record.",
)
@click.option("--issuer", metavar="TEXT", help="The issuer that the signature names. Default: this program.")
def sign(records: tuple[Path, ...], key: Path, output: str | None, issuer: str | None) -> None:
    """Sign each RECORD, a file with one agent record as aj writes it."""
    from agent_journal import files  # noqa: PLC0415
    from agent_journal.conversion import output as outputs  # noqa: PLC0415
    from agent_journal.notes import Notes  # noqa: PLC0415
    from agent_journal.records.signing import keys  # noqa: PLC0415
    from agent_journal.records.signing.record import Refused  # noqa: PLC0415
    from agent_journal.records.signing.record import sign as signature_of  # noqa: PLC0415

    private = keys.private_key(key)
    run = outputs.new_run(Notes())
    for path, target in zip(records, _targets(records, output), strict=True):
        try:
            signature = signature_of(
                _payload(path), private, issuer=issuer or run.program, signed_at=run.started
            )
        except Refused as error:
            raise AgentJournalError(f"Cannot sign {path}: {error}") from error
        files.write_regular(str(target), signature)
        show(str(target))


@command.command("verify", context_settings=_SETTINGS)
@click.argument("signatures", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SIG...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The signer's public key (PEM).")
@click.option(
    "--payload",
    type=click.Path(path_type=Path),
    metavar="RECORD",
    help=f"The signed record. Default: the file next to SIG with the same name without {_SUFFIX}.",
)
@click.option(
    "--canonicalize", is_flag=True, help="Ignore spaces, line breaks and the order of keys in the record."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per signature.")
def verify(
    *, signatures: tuple[Path, ...], key: Path, payload: Path | None, canonicalize: bool, as_json: bool
) -> int:
    """Verify that each SIG was made with this key and covers all bytes of its record; exit code 1 if not."""
    from agent_journal.records.signing import keys  # noqa: PLC0415
    from agent_journal.records.signing.cbor import MAX_BYTES  # noqa: PLC0415
    from agent_journal.records.signing.record import verify as verdict_on  # noqa: PLC0415

    if payload is not None and len(signatures) > 1:
        raise click.UsageError("--payload can only be used with one signature.")
    public = keys.public_key(key)
    all_valid = True
    for path in signatures:
        record = payload or _record_of(path)
        verdict = verdict_on(
            _read_bytes(path, MAX_BYTES),
            None if record is None else _payload(record),
            public,
            canonicalize=canonicalize,
        )
        all_valid = all_valid and verdict.valid
        _show(path, verdict, as_json=as_json)
    return 0 if all_valid else FAILED


@command.command("sign-bundle", context_settings=_SETTINGS)
@click.argument("bundles", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BUNDLE...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The private key (PEM).")
def sign_bundle(bundles: tuple[Path, ...], key: Path) -> None:
    """Sign the memories in each BUNDLE, a folder or zip from 'aj convert -t pam'; the signature is added."""
    from agent_journal.conversion import output as outputs  # noqa: PLC0415
    from agent_journal.notes import Notes  # noqa: PLC0415
    from agent_journal.records.signing import bundle, keys, stores  # noqa: PLC0415
    from agent_journal.records.signing.record import Refused  # noqa: PLC0415

    private = keys.private_key(key)
    signed_at = outputs.new_run(Notes()).started_at
    for path in bundles:
        try:
            signed = bundle.sign(stores.read(path), private, signed_at=signed_at)
        except Refused as error:
            raise AgentJournalError(f"Cannot sign {path}: {error}") from error
        stores.write(path, signed)
        show(str(path))


@command.command("verify-bundle", context_settings=_SETTINGS)
@click.argument("bundles", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BUNDLE...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The signer's public key (PEM).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per bundle.")
def verify_bundle(*, bundles: tuple[Path, ...], key: Path, as_json: bool) -> int:
    """Verify that each BUNDLE is signed with this key and its memories are unchanged; exit code 1 if not."""
    from agent_journal.records.signing import bundle, keys, stores  # noqa: PLC0415

    public = keys.public_key(key)
    all_valid = True
    for path in bundles:
        verdict = bundle.verify(stores.read(path), public)
        all_valid = all_valid and verdict.valid
        _show(path, verdict, as_json=as_json)
    return 0 if all_valid else FAILED


def _show(path: Path, verdict: Verdict, *, as_json: bool) -> None:
    import json  # noqa: PLC0415

    import msgspec  # noqa: PLC0415

    values = msgspec.to_builtins(verdict)
    if as_json:
        show_json({"file": str(path), **values})
        return
    show(f"{path}: {'valid' if verdict.valid else 'NOT VALID'}: {verdict.reason}")
    for label, group in (("claim", "claims"), ("unverified", "unverified")):
        for name, value in values[group].items():
            show(f"  {label} {name}: {json.dumps(value)}")


def _targets(records: tuple[Path, ...], output: str | None) -> list[Path]:
    if output is None:
        targets = [_signature_of(record) for record in records]
    elif len(records) == 1 and not output.endswith("/") and not Path(output).is_dir():
        return [Path(output)]
    else:
        from agent_journal import files  # noqa: PLC0415

        files.make_folder(output)
        targets = [Path(output) / _signature_of(record).name for record in records]
    if len(set(targets)) < len(targets):
        raise AgentJournalError("Two records have the same name; sign them into two different folders.")
    return targets


def _signature_of(record: Path) -> Path:
    return record.with_name(record.name.removesuffix(".json") + _SUFFIX)


def _record_of(signature: Path) -> Path | None:
    name = signature.name.removesuffix(_SUFFIX)
    candidates = (signature.with_name(f"{name}.json"), signature.with_name(name))
    return next((path for path in candidates if path != signature and path.is_file()), None)


def _payload(path: Path) -> bytes:
    """All bytes of a record's file."""
    from agent_journal.records.signing.record import MAX_RECORD_BYTES  # noqa: PLC0415

    return _read_bytes(path, MAX_RECORD_BYTES)


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    from agent_journal import files  # noqa: PLC0415

    try:
        with files.open_regular(str(path)) as file:
            data = file.read(max_bytes + 1)
    except files.NotRegular as error:
        raise UnreadableSource(str(path), str(error)) from error
    except OSError as error:
        raise UnreadableSource(str(path), (error.strerror or str(error)).lower()) from error
    if len(data) > max_bytes:
        raise UnreadableSource(str(path), f"it is larger than {max_bytes >> 20:,} MiB")
    return data
