"""What passes between a judge and the supervisor: the form of their messages, and the judge's end of the line."""

from __future__ import annotations

import _socket
import marshal
from _struct import Struct  # struct itself would cost a tenth of a millisecond of every start

from lab.grading import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROGRESS = Struct("<Q")
"""The judge's word, in memory that both have."""
PROGRESS_BYTES = 4096
SIZE = Struct("<Q")
INT = Struct("i")
MAX_MESSAGE_BYTES = 1 << 16
DESCRIPTORS = 2


class Control:
    """The judge's end of a socket to the supervisor: framed marshal messages, descriptors with some of them."""

    def __init__(self, descriptor: int) -> None:
        self.socket = _socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        """The next message and the descriptors that came with it; None at the end."""
        room = _socket.CMSG_SPACE(DESCRIPTORS * 4)
        head, ancillary, _, _ = self.socket.recvmsg(SIZE.size, room)
        descriptors = [number for _, _, data in ancillary for (number,) in INT.iter_unpack(data)]
        while head and len(head) < SIZE.size:
            head += self.socket.recv(SIZE.size - len(head))
        if not head:
            return None, []
        (size,) = SIZE.unpack(head)
        body = bytearray(size)
        view = memoryview(body)
        while view:
            got = self.socket.recv_into(view)
            if not got:
                return None, []
            view = view[got:]
        return marshal.loads(body), descriptors  # noqa: S302 - the supervisor wrote it

    def send(self, message: dict[str, Any]) -> None:
        """Say something to the supervisor, by the codec: a hostile test may write to this socket as well."""
        body = codec.encode(message, MAX_MESSAGE_BYTES)
        self.socket.sendall(SIZE.pack(len(body)) + body)

    def close(self) -> None:
        self.socket.close()
