import CEssentials
public import EssentialsHTTP

/// A trust policy made ready for OpenSSL: anchors, pins and identity are read once, and every fault in them is thrown
/// here, before any request.
///
/// ```swift
/// let trust = try CompiledTrust(TrustPolicy(anchors: .only([PEM(contentsOfFile: "ca.pem")])))
/// let transport = try CurlTransport(trust: trust)
/// ```
///
/// Making one costs a read of the explicit anchors; the system's are looked up by name when a chain needs them.
public final class CompiledTrust: @unchecked Sendable {
    // Argument for @unchecked: what the pointer leads to is immutable but for an atomic reference count and OpenSSL's
    // own, locked, certificate store. It is set once and released in deinit.
    let pointer: OpaquePointer
    /// The policy that was compiled.
    public let policy: TrustPolicy

    /// Compiles a policy.
    ///
    /// - Throws: `invalidPolicy` for a certificate or key that cannot be read or does not fit, `file` for system anchors
    ///   that cannot be read, `tls` when the system's libraries are too old.
    public init(_ policy: TrustPolicy) throws(RequestFailure) {
        try LibraryRequirements.check(LibraryRequirements.facts())
        let system = policy.anchors.includesSystem ? try SystemAnchors.locate() : SystemAnchors()
        self.policy = policy
        pointer = try Self.compile(policy, system: system)
    }

    deinit { ce_trust_release(pointer) }

    private static func compile(_ policy: TrustPolicy, system: SystemAnchors) throws(RequestFailure) -> OpaquePointer {
        let anchors = policy.anchors.explicit.map(\.text).joined(separator: "\n")
        let pins = policy.pins.map(ce_pin.init)
        var error = ce_trust_error()
        // Every pointer in the configuration is borrowed for this one call; the C side copies what it keeps.
        let compiled: OpaquePointer? = withTexts([
            system.file, system.directory, anchors.isEmpty ? nil : anchors, policy.identity?.certificate.text,
            policy.identity?.privateKey.text,
        ]) { texts in
            pins.withUnsafeBufferPointer { pins in
                var config = ce_trust_config()
                config.system_file = texts[0].pointer
                config.system_directory = texts[1].pointer
                (config.anchors_pem, config.anchors_pem_size) = (texts[2].pointer, texts[2].count)
                (config.identity_certificate_pem, config.identity_certificate_pem_size) =
                    (texts[3].pointer, texts[3].count)
                (config.identity_key_pem, config.identity_key_pem_size) = (texts[4].pointer, texts[4].count)
                (config.pins, config.pin_count) = (pins.baseAddress, pins.count)
                config.minimum_tls = policy.minimumTLS == .tls13 ? 0x0304 : 0x0303
                return ce_trust_create(&config, &error)
            }
        }
        guard let compiled else { throw failure(error) }
        return compiled
    }

    private struct Text {
        var pointer: UnsafePointer<CChar>?
        var count: Int
    }

    private static func withTexts<Result>(_ texts: [String?], _ body: ([Text]) -> Result) -> Result {
        let copies = texts.map { $0.map { ContiguousArray($0.utf8CString) } }
        func lend(_ index: Int, _ lent: [Text]) -> Result {
            guard index < copies.count else { return body(lent) }
            guard let copy = copies[index] else { return lend(index + 1, lent + [Text(pointer: nil, count: 0)]) }
            return copy.withUnsafeBufferPointer {
                lend(index + 1, lent + [Text(pointer: $0.baseAddress, count: $0.count - 1)])
            }
        }
        return lend(0, [])
    }

    private static func failure(_ error: ce_trust_error) -> RequestFailure {
        let text = text(of: error)
        switch error.kind {
        case CE_TRUST_SYSTEM_ANCHORS:
            return RequestFailure(
                .file, "The system's anchors could not be read: \(text).",
                remedy: "Check SSL_CERT_FILE and SSL_CERT_DIR.")
        case CE_TRUST_ANCHORS:
            return invalid("An anchor could not be read: \(text).", "Check that the PEM file holds whole certificates.")
        case CE_TRUST_IDENTITY_CERTIFICATE:
            return invalid("The client certificate could not be read: \(text).", "Check its PEM file.")
        case CE_TRUST_IDENTITY_KEY:
            return invalid("The client key could not be read: \(text).", "Give it as unencrypted PEM.")
        case CE_TRUST_IDENTITY_MISMATCH:
            return invalid(
                "The client key does not belong to the client certificate.",
                "Give the key the certificate was made for.")
        default:
            return invalid("The policy could not be compiled: \(text).", "Free some memory.")
        }
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidPolicy, message, remedy: remedy)
    }

    private static func text(of error: ce_trust_error) -> String {
        var copy = error.text
        return withUnsafeBytes(of: &copy) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension ce_pin {
    fileprivate init(_ pin: Pin) {
        self.init()
        kind = Int32((pin.kind == .certificate ? CE_PIN_CERTIFICATE : CE_PIN_PUBLIC_KEY).rawValue)
        withUnsafeMutableBytes(of: &digest) { $0.copyBytes(from: pin.digest) }
    }
}
