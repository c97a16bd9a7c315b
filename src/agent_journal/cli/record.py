"""`aj record`: keys, signatures of agent records, and whether they hold."""

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
    """Sign agent records and bundles of memories, and verify that they are unchanged."""


@command.command("keygen", context_settings=_SETTINGS)
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where to put it."
)
def keygen(output: Path) -> None:
    """Make an Ed25519 key: signing-key.pem, to be kept secret, and signing-key.pub.pem, to be given away."""
    from agent_journal.records.signing import keys  # noqa: PLC0415 (slow to import)

    for place in keys.generate(output):
        show(str(place))


@command.command("sign", context_settings=_SETTINGS)
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RECORD...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The private key (PEM).")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="File for the signature, or a folder if it ends with / or is one. Default: beside each record.",
)
@click.option("--issuer", metavar="TEXT", help="Who records. Default: this program.")
def sign(records: tuple[Path, ...], key: Path, output: str | None, issuer: str | None) -> None:
    """Sign all bytes of each RECORD, which must be one record in the form that aj writes."""
    from agent_journal import files  # noqa: PLC0415
    from agent_journal.conversion import output as outputs  # noqa: PLC0415
    from agent_journal.notes import Notes  # noqa: PLC0415
    from agent_journal.records.signing import keys  # noqa: PLC0415
    from agent_journal.records.signing.record import Refused  # noqa: PLC0415
    from agent_journal.records.signing.record import sign as signature_of  # noqa: PLC0415

    private = keys.private_key(key)
    run = outputs.new_run(Notes())
    for place, target in zip(records, _targets(records, output), strict=True):
        try:
            signature = signature_of(
                _payload(place), private, issuer=issuer or run.program, signed_at=run.started
            )
        except Refused as error:
            raise AgentJournalError(f"cannot sign {place}: {error}") from error
        files.write_regular(str(target), signature)
        show(str(target))


@command.command("verify", context_settings=_SETTINGS)
@click.argument("signatures", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SIG...")
@click.option(
    "--key", required=True, type=click.Path(path_type=Path), help="The public key (PEM) it must be of."
)
@click.option(
    "--payload",
    type=click.Path(path_type=Path),
    metavar="RECORD",
    help=f"The record. Default: the file beside SIG that is called the same without {_SUFFIX}.",
)
@click.option(
    "--canonicalize", is_flag=True, help="Ignore spaces, line feeds and the order of keys in RECORD."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per signature.")
def verify(
    *, signatures: tuple[Path, ...], key: Path, payload: Path | None, canonicalize: bool, as_json: bool
) -> int:
    """Say whether each SIG is by this key and of all bytes of its record; exit code 0 if all are."""
    from agent_journal.records.signing import keys  # noqa: PLC0415
    from agent_journal.records.signing.cbor import MAX_BYTES  # noqa: PLC0415
    from agent_journal.records.signing.record import verify as verdict_on  # noqa: PLC0415

    if payload is not None and len(signatures) > 1:
        raise click.UsageError("--payload goes with one signature")
    public = keys.public_key(key)
    all_valid = True
    for place in signatures:
        record = payload or _record_of(place)
        verdict = verdict_on(
            _bytes_of(place, MAX_BYTES),
            None if record is None else _payload(record),
            public,
            canonicalize=canonicalize,
        )
        all_valid = all_valid and verdict.valid
        _show(place, verdict, as_json=as_json)
    return 0 if all_valid else FAILED


@command.command("sign-bundle", context_settings=_SETTINGS)
@click.argument("bundles", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BUNDLE...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The private key (PEM).")
def sign_bundle(bundles: tuple[Path, ...], key: Path) -> None:
    """Sign the memories of each BUNDLE (aj convert -t pam), a folder or zip; the signature is put into it."""
    from agent_journal.conversion import output as outputs  # noqa: PLC0415
    from agent_journal.notes import Notes  # noqa: PLC0415
    from agent_journal.records.signing import bundle, keys, stores  # noqa: PLC0415
    from agent_journal.records.signing.record import Refused  # noqa: PLC0415

    private = keys.private_key(key)
    signed_at = outputs.new_run(Notes()).started_at
    for place in bundles:
        try:
            signed = bundle.sign(stores.read(place), private, signed_at=signed_at)
        except Refused as error:
            raise AgentJournalError(f"cannot sign {place}: {error}") from error
        stores.write(place, signed)
        show(str(place))


@command.command("verify-bundle", context_settings=_SETTINGS)
@click.argument("bundles", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BUNDLE...")
@click.option(
    "--key", required=True, type=click.Path(path_type=Path), help="The public key (PEM) it must be of."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per bundle.")
def verify_bundle(*, bundles: tuple[Path, ...], key: Path, as_json: bool) -> int:
    """Say whether each BUNDLE is signed by this key and its memories unchanged; exit code 0 if all are."""
    from agent_journal.records.signing import bundle, keys, stores  # noqa: PLC0415

    public = keys.public_key(key)
    all_valid = True
    for place in bundles:
        verdict = bundle.verify(stores.read(place), public)
        all_valid = all_valid and verdict.valid
        _show(place, verdict, as_json=as_json)
    return 0 if all_valid else FAILED


def _show(place: Path, verdict: Verdict, *, as_json: bool) -> None:
    import json  # noqa: PLC0415

    import msgspec  # noqa: PLC0415

    values = msgspec.to_builtins(verdict)
    if as_json:
        show_json({"file": str(place), **values})
        return
    show(f"{place}: {'valid' if verdict.valid else 'NOT VALID'}: {verdict.reason}")
    for title in ("claims", "unverified"):
        for name, value in values[title].items():
            what = title[:-1] if title == "claims" else title
            show(f"  {what} {name}: {json.dumps(value)}")


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
        raise AgentJournalError("two records have the same name; sign them into two folders")
    return targets


def _signature_of(record: Path) -> Path:
    return record.with_name(record.name.removesuffix(".json") + _SUFFIX)


def _record_of(signature: Path) -> Path | None:
    name = signature.name.removesuffix(_SUFFIX)
    candidates = (signature.with_name(f"{name}.json"), signature.with_name(name))
    return next((place for place in candidates if place != signature and place.is_file()), None)


def _payload(place: Path) -> bytes:
    """All bytes of a record's file."""
    from agent_journal.records.signing.record import MAX_RECORD_BYTES  # noqa: PLC0415

    return _bytes_of(place, MAX_RECORD_BYTES)


def _bytes_of(place: Path, most: int) -> bytes:
    from agent_journal import files  # noqa: PLC0415

    try:
        with files.open_regular(str(place)) as file:
            data = file.read(most + 1)
    except files.NotRegular as error:
        raise UnreadableSource(str(place), str(error)) from error
    except OSError as error:
        raise UnreadableSource(str(place), (error.strerror or str(error)).lower()) from error
    if len(data) > most:
        raise UnreadableSource(str(place), f"it is larger than {most >> 20:,} MiB")
    return data
