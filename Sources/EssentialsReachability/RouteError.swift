import Glibc

/// Why the system has no way to an address: the error number that a connection attempt would get.
///
/// `ENETUNREACH` (no route), `EHOSTUNREACH`, `EINVAL` and `EACCES` (a route of the types unreachable, blackhole and
/// prohibit, or a rule of the last), `ENETDOWN` (there is a route, but its interface is down or without a carrier).
public struct RouteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number, such as `ENETUNREACH`.
    public let code: Int32

    /// Makes one from a number.
    public init(code: Int32) { self.code = code }

    /// The system's own text for the number, such as “Network is unreachable”.
    public var description: String {
        var buffer = [CChar](repeating: 0, count: 256)
        // The variant that Glibc gives to Swift is XSI's: it fills the buffer.
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the kernel failed itself, which says nothing about the way.
    var isAboutKernel: Bool {
        switch code {
        case ENOMEM, ENOBUFS, EAGAIN, EINTR, EBUSY, EMFILE, ENFILE, EPERM: true
        default: false
        }
    }
}

extension RouteError {
    /// There is no route to the host.
    public static let noRoute = RouteError(code: ENETUNREACH)
    /// The way's interface is down, or has no carrier.
    public static let interfaceDown = RouteError(code: ENETDOWN)
}
