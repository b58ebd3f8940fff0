"""A kernel that nbval starts has no TCP port that another program could take first, and leaves no file behind."""

import sys
from pathlib import Path

import nbval.kernel
import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="ZeroMQ has no sockets as files there")
def test_a_kernel_is_reached_through_files_that_go_with_it():
    manager, client = nbval.kernel.start_new_kernel(kernel_name="python3")
    try:
        assert manager.transport == "ipc"
        sockets = Path(manager.ip)
        assert len(list(sockets.parent.glob(f"{sockets.name}-*"))) == 5
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert list(sockets.parent.glob(f"{sockets.name}-*")) == []
