// Every other module imports this one in place of `Synchronization` and of the C library, which are exported to them.
@_exported public import Synchronization

#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#else
    @_exported public import Darwin
#endif
