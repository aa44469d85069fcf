"""How does a variant run as local processes? One recipe an image; any application of ours by its jar."""

from writepath.runtime.native.runtime import NativeRuntime

__all__ = ["NativeRuntime"]
