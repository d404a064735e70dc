#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Pins, and what follows from them.
///
/// ```swift
/// let pins = try PinSet([.publicKey(current), .publicKey(backup)], expires: date, onExpiry: .anchorsOnly)
/// ```
public struct PinSet: Sendable, Hashable {
    /// What becomes of a connection whose chain holds none of the pins.
    public enum Mode: Sendable, Hashable {
        /// It is refused.
        case enforce
        /// It is used, and reported. Chain and host name are enforced all the same.
        case reportOnly
    }

    /// What becomes of the pins at their expiry.
    public enum ExpiryAction: Sendable, Hashable {
        /// They count no more. Chain and host name do; plain `http` stays refused.
        case anchorsOnly
        /// The hosts are refused, as `hostRefused`.
        case refuse
    }

    /// The pins of which a verified chain must hold at least one.
    public let pins: [Pin]
    /// What becomes of a connection whose chain holds none of them.
    public let mode: Mode
    /// When they expire, by this machine's clock; nil for never.
    public let expires: Date?
    /// What becomes of them then.
    public let onExpiry: ExpiryAction
    /// Whether fewer than two pins were accepted.
    public let acceptsSinglePin: Bool

    /// Takes pins.
    ///
    /// - Parameters:
    ///   - pins: At least two with different digests, so that a lost or renewed key does not lock every client out. The
    ///     same digest as a key pin and as a certificate pin is one pin, because only one of the two can match. A set
    ///     that only reports may have one.
    ///   - mode: What becomes of a connection whose chain holds none of them.
    ///   - acceptsSinglePin: Accept a single one.
    ///   - expires: A date after which an old build of a program gets in again; nil for never.
    ///   - onExpiry: What becomes of them then.
    /// - Throws: `invalidPolicy` when there is no pin, one and `acceptsSinglePin` is false, or `refuse` for pins that only
    ///   report.
    public init(
        _ pins: [Pin], mode: Mode = .enforce, acceptsSinglePin: Bool = false, expires: Date? = nil,
        onExpiry: ExpiryAction = .anchorsOnly
    ) throws(RequestFailure) {
        guard !pins.isEmpty else {
            throw RequestFailure(
                .invalidPolicy, "The list of pins is empty.",
                remedy: "Name the server's pin and a backup, or make the policy without pins.")
        }
        // A key that is pinned for two places in the chain is one key. No key has the same digest as a certificate.
        let different = Set(pins.map(\.digest)).count
        guard mode == .reportOnly || acceptsSinglePin || different >= 2 else {
            throw RequestFailure(
                .invalidPolicy, "The policy has a single pin: when that key is lost or renewed, no client gets in.",
                remedy: "Add a backup pin with another digest, or accept a single pin explicitly.")
        }
        guard mode == .enforce || onExpiry == .anchorsOnly else {
            throw RequestFailure(
                .invalidPolicy, "The pins only report, and refuse hosts when they expire.",
                remedy: "Enforce the pins, or let their expiry end the reports.")
        }
        self.pins = pins
        self.mode = mode
        self.acceptsSinglePin = acceptsSinglePin
        self.expires = expires
        self.onExpiry = onExpiry
    }
}
