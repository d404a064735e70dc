import CEssentials
public import EssentialsTransport
import FoundationEssentials

/// A trust policy in the form that OpenSSL needs. Anchors, pins and identity are read once, and every fault in them is
/// thrown here, before any request.
///
/// ```swift
/// let trust = try CompiledTrust(TrustPolicy(anchors: .only([PEM(contentsOfFile: "ca.pem")])))
/// let transport = try CurlTransport(trust: trust)
/// ```
///
/// Compiling a policy reads its explicit anchors. The system's anchors are read when the first handshake needs them:
/// single files from a directory, or a whole bundle once in a process. A bundle without anchors fails as `file` then.
public final class CompiledTrust: @unchecked Sendable {
    // Argument for @unchecked: the object behind the pointer is immutable, except for an atomic reference count and
    // OpenSSL's own certificate store, which has a lock. The pointer is set once and released in deinit.
    let pointer: OpaquePointer
    /// The policy that was compiled.
    public let policy: TrustPolicy
    let rules: HostRuleTable
    let reporter: TrustReporter

    /// Compiles a policy.
    ///
    /// - Throws: `invalidPolicy` for a certificate or key that cannot be read or does not fit, `file` for system
    ///   anchors that cannot be read, `tls` if the system's libraries are too old, `resources` if there is no memory or
    ///   descriptor.
    public convenience init(_ policy: TrustPolicy) throws(RequestFailure) {
        try self.init(policy, reporter: TrustReporter())
    }

    init(_ policy: TrustPolicy, reporter: TrustReporter) throws(RequestFailure) {
        try LibraryRequirements.check(LibraryRequirements.facts())
        let system = policy.anchors.includesSystem ? try SystemAnchors.locate(policy.anchors) : SystemAnchors()
        self.policy = policy
        self.reporter = reporter
        rules = HostRuleTable(policy)
        pointer = try Self.compile(policy, rules, system: system)
    }

    deinit { ce_trust_release(pointer) }

    /// Returns a stream of the policy's refusals, and of those that its report-only rules would have caused.
    ///
    /// The same rule, chain and result is reported once in 24 hours, counted from the first report that had a listener.
    /// A listener that lags by more than 100 reports loses the oldest. Each call creates a new stream, which ends with
    /// the policy.
    public func reports() -> AsyncStream<TrustReport> { reporter.stream() }

    private static func compile(
        _ policy: TrustPolicy, _ table: HostRuleTable, system: SystemAnchors
    ) throws(RequestFailure) -> OpaquePointer {
        let anchors = policy.anchors.explicit.map(\.text).joined(separator: "\n")
        let passphrase = try policy.identity?.readPassphrase()
        var revocationLists: String?
        if case .lists(let lists) = policy.revocation { revocationLists = lists.map(\.text).joined(separator: "\n") }
        var pins: [ce_pin] = []
        let rules = table.entries.map { entry in
            defer { pins += entry.pins?.pins.map(ce_pin.init) ?? [] }
            return ce_rule(entry, firstPin: pins.count)
        }
        var error = ce_trust_error()
        // Every pointer in the configuration is borrowed for this call. The C code copies what it keeps.
        let compiled: OpaquePointer? = withTexts([
            system.file, system.directory, anchors.isEmpty ? nil : anchors, policy.identity?.certificate.text,
            policy.identity?.privateKey.text, passphrase, revocationLists,
        ]) { texts in
            withBuffers(pins, rules) { pins, rules in
                var config = ce_trust_config()
                config.system_file = texts[0].pointer
                config.system_directory = texts[1].pointer
                (config.anchors_pem, config.anchors_pem_size) = (texts[2].pointer, texts[2].count)
                (config.identity_certificate_pem, config.identity_certificate_pem_size) =
                    (texts[3].pointer, texts[3].count)
                (config.identity_key_pem, config.identity_key_pem_size) = (texts[4].pointer, texts[4].count)
                config.passphrase = texts[5].pointer
                (config.revocation_pem, config.revocation_pem_size) = (texts[6].pointer, texts[6].count)
                config.staple = Int32(policy.revocation.staple.rawValue)
                (config.pins, config.pin_count) = (pins.baseAddress, pins.count)
                (config.rules, config.rule_count) = (rules.baseAddress, rules.count)
                config.minimum_tls = policy.minimumTLS == .tls13 ? 0x0304 : 0x0303
                return ce_trust_create(&config, &error)
            }
        }
        guard let compiled else { throw Failures.policy(error) }
        return compiled
    }

    private static func withBuffers<First, Second, Result>(
        _ first: [First], _ second: [Second],
        _ body: (UnsafeBufferPointer<First>, UnsafeBufferPointer<Second>) -> Result
    ) -> Result {
        first.withUnsafeBufferPointer { first in second.withUnsafeBufferPointer { body(first, $0) } }
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
}

extension ce_pin {
    fileprivate init(_ pin: Pin) {
        self.init()
        kind = Int32((pin.kind == .certificate ? CE_PIN_CERTIFICATE : CE_PIN_PUBLIC_KEY).rawValue)
        switch pin.scope {
        case .any: scope = Int32(CE_PIN_ANYWHERE.rawValue)
        case .leaf: scope = Int32(CE_PIN_LEAF.rawValue)
        case .issuer: scope = Int32(CE_PIN_ISSUER.rawValue)
        }
        withUnsafeMutableBytes(of: &digest) { $0.copyBytes(from: pin.digest) }
    }
}

extension ce_rule {
    fileprivate init(_ entry: HostRuleTable.Entry, firstPin: Int) {
        self.init()
        first_pin = firstPin
        pin_count = entry.pins?.pins.count ?? 0
        report_only = entry.pins?.mode == .reportOnly
        // A date that the clock cannot show is never reached.
        expires = entry.pins?.expires.flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) } ?? .max
        refuses_when_expired = entry.pins?.onExpiry == .refuse
    }
}

extension Revocation {
    fileprivate var staple: ce_staple {
        switch self {
        case .none, .lists: CE_STAPLE_IGNORED
        case .stapled(let isRequired): isRequired ? CE_STAPLE_REQUIRED : CE_STAPLE_JUDGED
        }
    }
}
