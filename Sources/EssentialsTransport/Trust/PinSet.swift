#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A set of pins and the consequences of a mismatch.
///
/// ```swift
/// let pins = try PinSet([.publicKey(current), .publicKey(backup)], expires: date, onExpiry: .anchorsOnly)
/// ```
public struct PinSet: Sendable, Hashable {
    /// What happens to a connection whose chain contains none of the pins.
    public enum Mode: Sendable, Hashable {
        /// The connection is refused.
        case enforce
        /// The connection is used and reported. Chain and host name are still enforced.
        case reportOnly
    }

    /// What happens when the pins expire.
    public enum ExpiryAction: Sendable, Hashable {
        /// The pins are no longer checked. Chain and host name are still enforced, and plain `http` is still refused.
        case anchorsOnly
        /// Requests to the hosts are refused with `hostRefused`.
        case refuse
    }

    /// The pins. A verified chain must contain at least one of them.
    public let pins: [Pin]
    /// What happens to a connection whose chain contains none of the pins.
    public let mode: Mode
    /// The expiration date by this machine's clock; `nil` means that the pins never expire.
    public let expires: Date?
    /// What happens when the pins expire.
    public let onExpiry: ExpiryAction
    /// Whether fewer than two pins are allowed.
    public let acceptsSinglePin: Bool

    /// Creates a set of pins.
    ///
    /// - Parameters:
    ///   - pins: At least two pins with different digests, so that a lost or renewed key does not lock out every
    ///     client. The same digest as a key pin and as a certificate pin counts once, because only one of the two can
    ///     match. A set with the mode `reportOnly` may have a single pin.
    ///   - mode: What happens to a connection whose chain contains none of the pins.
    ///   - acceptsSinglePin: Whether a single pin is allowed.
    ///   - expires: The date after which an old build of a program can connect again; `nil` means never.
    ///   - onExpiry: What happens when the pins expire.
    /// - Throws: `invalidPolicy` if there is no pin, if there is one and `acceptsSinglePin` is false, or for `refuse`
    ///   with the mode `reportOnly`.
    public init(
        _ pins: [Pin], mode: Mode = .enforce, acceptsSinglePin: Bool = false, expires: Date? = nil,
        onExpiry: ExpiryAction = .anchorsOnly
    ) throws(RequestFailure) {
        guard !pins.isEmpty else {
            throw RequestFailure(
                .invalidPolicy, "The list of pins is empty.",
                remedy: "Provide the server's pin and a backup pin, or create the policy without pins.")
        }
        // A key that is pinned in two scopes counts once. No key has the same digest as a certificate.
        let different = Set(pins.map(\.digest)).count
        guard mode == .reportOnly || acceptsSinglePin || different >= 2 else {
            throw RequestFailure(
                .invalidPolicy, "The policy has a single pin. If that key is lost or renewed, no client can connect.",
                remedy: "Add a backup pin with another digest, or accept a single pin explicitly.")
        }
        guard mode == .enforce || onExpiry == .anchorsOnly else {
            throw RequestFailure(
                .invalidPolicy, "The pins only report mismatches, but refuse hosts when they expire.",
                remedy: "Enforce the pins, or let their expiry end the reports.")
        }
        self.pins = pins
        self.mode = mode
        self.acceptsSinglePin = acceptsSinglePin
        self.expires = expires
        self.onExpiry = onExpiry
    }
}

extension TrustPolicy {
    /// The earliest date at which pins expire; `nil` if none do.
    package var firstExpiry: Date? {
        var sets = hosts.compactMap(\.pins)
        if case .pinned(let pins) = unlistedHosts { sets.append(pins) }
        return sets.compactMap(\.expires).min()
    }
}
