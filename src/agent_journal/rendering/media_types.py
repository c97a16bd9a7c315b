"""The type of a file, detected from its first bytes."""

from __future__ import annotations

import base64
import binascii

# The type of a file is detected from its first bytes, whatever its source claims: an HTML page that is
# declared as an image must not get a name that a browser opens. SVG is excluded as it can contain scripts.
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "png", "image/png"),
    (b"\xff\xd8\xff", "jpg", "image/jpeg"),
    (b"GIF8", "gif", "image/gif"),
    (b"BM", "bmp", "image/bmp"),
    (b"%PDF-", "pdf", "application/pdf"),
    (b"ID3", "mp3", "audio/mpeg"),
    (b"OggS", "ogg", "audio/ogg"),
    (b"fLaC", "flac", "audio/flac"),
)
# Types with their signature at an offset.
_OFFSET_SIGNATURES = (
    (8, b"WEBP", "webp", "image/webp"),
    (8, b"WAVE", "wav", "audio/wav"),
    (4, b"ftypavif", "avif", "image/avif"),
    (4, b"ftyp", "mp4", "video/mp4"),
)
_UNKNOWN = ("bin", "application/octet-stream")
_HEAD_BASE64_CHARS = 64


def detect_media_type(data: str) -> tuple[str, str]:
    """The suffix and media type of a file by its first bytes; `data` is base64."""
    try:
        head = base64.b64decode(data[:_HEAD_BASE64_CHARS])
    except (binascii.Error, ValueError):
        return _UNKNOWN
    for signature, suffix, mime in _SIGNATURES:
        if head.startswith(signature):
            return suffix, mime
    for offset, signature, suffix, mime in _OFFSET_SIGNATURES:
        if head[offset:].startswith(signature):
            return suffix, mime
    return _UNKNOWN
