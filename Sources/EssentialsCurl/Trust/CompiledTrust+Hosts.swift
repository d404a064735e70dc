import CEssentials
public import EssentialsTransport
import FoundationEssentials

// The rules for hosts, and the use of a policy for TLS connections of other libraries.
extension CompiledTrust {
    /// Returns the index of the rule for a host.
    ///
    /// - Throws: `hostRefused`.
    func rule(for host: HostName) throws(RequestFailure) -> Int {
        guard let index = rules.index(for: host) else {
            throw Failures.unlisted(host)
        }
        return index
    }

    private func reportedRule(for host: HostName) throws(RequestFailure) -> Int {
        do throws(RequestFailure) {
            return try rule(for: host)
        } catch {
            report(error, host: host, port: 0)
            throw error
        }
    }

    /// Judges a chain that was not received through a transport. It checks signatures, validity, purpose, host name,
    /// revocation lists and pins, as a transport does. OCSP staples belong to a handshake and are not judged.
    ///
    /// ```swift
    /// let path = try trust.evaluate(chain: peerCertificates, host: HostName("stream.example.com"))
    /// ```
    ///
    /// It may be called from any thread, and costs a signature check of about 100 µs for each certificate.
    ///
    /// - Parameters:
    ///   - chain: The certificates as presented, in DER form, the server's own first.
    ///   - host: The host that the server should be.
    /// - Returns: The verified path, including its root.
    /// - Throws: `trustChain`, `trustHost`, `pinMismatch`, `revoked` or `hostRefused`.
    @discardableResult
    public func evaluate(chain: [[UInt8]], host: HostName) throws(RequestFailure) -> [CertificateFacts] {
        let rule = try reportedRule(for: host)
        var report = ce_report()
        // All certificates are in one block, so that the pointers into it are valid together.
        let bytes = chain.flatMap { $0 }
        let isTrusted = bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            var offset = 0
            let starts = chain.map { certificate in
                defer { offset += certificate.count }
                return base + offset
            }
            return ce_trust_evaluate(
                pointer, rule, host.text, host.isAddress, starts, chain.map(\.count), chain.count, &report)
        }
        let found = GateReport(&report)
        if !isTrusted {
            let failure =
                found.failure(host: host.text, phase: .handshake)
                ?? Failures.noCertificate(host)
            self.report(failure, host: host, port: 0)
            throw failure
        }
        if report.missed_pins { reportMissedPins(host: host, port: 0, chain: found.chain) }
        return found.chain
    }

    /// Installs the policy on an `SSL_CTX` of the program, for protocols that the transport does not speak.
    ///
    /// The context then judges its peer inside the handshake: by anchors, host name, pins, revocation and TLS version.
    /// It also presents the client's identity.
    ///
    /// ```swift
    /// try trust.install(on: context, host: HostName("stream.example.com"))   // before SSL_new
    /// // SSL_set_tlsext_host_name(ssl, "stream.example.com"), SSL_connect(ssl)
    /// try trust.judge(ssl, host: HostName("stream.example.com"))              // after the handshake, resumed or not
    /// ```
    ///
    /// - Parameters:
    ///   - context: An OpenSSL `SSL_CTX *` of the libssl that the process is linked with. It keeps the parts of the
    ///     policy that it needs. Each concurrent handshake needs its own context. A context takes one policy for one
    ///     host, because OpenSSL cannot remove an identity from it: another policy or host is refused and changes
    ///     nothing. The same policy for the same host may be installed again.
    ///   - host: The host that the server should be. Every `SSL` of the context must have it as its server name, or no
    ///     server name if the host is an address.
    /// - Throws: `hostRefused`, `otherTrust` for a context with another policy or host, `file` for a bundle of the
    ///   system's anchors that cannot be read, and `tls` if OpenSSL refuses.
    public func install(on context: OpaquePointer, host: HostName) throws(RequestFailure) {
        let rule = try reportedRule(for: host)
        // The documentation demands that the pointer is an SSL_CTX. C cannot check it.
        switch ce_trust_install(pointer, rule, host.text, host.isAddress, UnsafeMutableRawPointer(context)) {
        case CE_INSTALL_DONE: return
        case CE_INSTALL_TAKEN:
            throw Failures.takenContext(host)
        default:
            let report = ce_trust_installed_report(UnsafeMutableRawPointer(context)).map(GateReport.init)
            if let failure = report?.failure(host: host.text, phase: .handshake) { throw failure }
            throw Failures.refusedContext(host)
        }
    }

    /// Judges a connection after its handshake.
    ///
    /// It must be called before the first byte is sent, because ``install(on:host:)`` cannot judge a resumed session,
    /// which presents no certificates.
    ///
    /// - Parameters:
    ///   - connection: An OpenSSL `SSL *` from a context that ``install(on:host:)`` was called on.
    ///   - host: The host that the server should be.
    /// - Throws: The failures of a transport before a request: `pinMismatch`, `otherTrust`, `unexpectedPeer`,
    ///   `tlsTooOld`, `trustEvidence`, `trustChain` for a chain that has expired since, `hostRefused`.
    public func judge(_ connection: OpaquePointer, host: HostName) throws(RequestFailure) {
        let rule = try reportedRule(for: host)
        var report = ce_report()
        // The pointer is the caller's SSL, as in `install`.
        if ce_trust_judge(pointer, rule, host.text, UnsafeMutableRawPointer(connection), &report) {
            if report.missed_pins { reportMissedPins(host: host, port: 0, chain: GateReport(&report).chain) }
            return
        }
        let failure =
            GateReport(&report).failure(host: host.text, phase: .handshake)
            ?? Failures.unjudged(host)
        self.report(failure, host: host, port: 0)
        throw failure
    }

    /// Returns why ``install(on:host:)`` has refused a handshake, and reports the refusal. It is `nil` if nothing was
    /// refused.
    ///
    /// A context remembers its last handshake only.
    ///
    /// - Parameters:
    ///   - context: The `SSL_CTX *` that was given to ``install(on:host:)``.
    ///   - host: The host that was given to it.
    public func refusal(on context: OpaquePointer, host: HostName) -> RequestFailure? {
        // The pointer is the caller's SSL_CTX, as in `install`. Its report is read during the call.
        guard let found = ce_trust_installed_report(UnsafeMutableRawPointer(context)),
            let failure = GateReport(found).failure(host: host.text, phase: .handshake)
        else { return nil }
        report(failure, host: host, port: 0)
        return failure
    }

    // MARK: Reports

    /// The reasons of failures that a policy causes.
    private static let judgements: Set<RequestFailure.Reason> = [
        .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .otherTrust, .tlsTooOld, .trustEvidence, .revoked,
        .hostRefused, .plaintextRefused,
    ]

    /// Reports a failure if a policy has caused it.
    func report(_ failure: RequestFailure, host: HostName, port: UInt16) {
        guard Self.judgements.contains(failure.reason) else { return }
        report(failure.reason, failure.message, isEnforced: true, host: host, port: port, chain: failure.chain)
    }

    /// Reports a chain without a pinned key under a rule that only reports.
    func reportMissedPins(host: HostName, port: UInt16, chain: [CertificateFacts]) {
        report(
            .pinMismatch, "None of the pins for \(host) matches its chain; the rule only reports.", isEnforced: false,
            host: host, port: port, chain: chain)
    }

    /// Reports plain `http` under a rule that only reports.
    func reportPlaintext(host: HostName, port: UInt16) {
        report(
            .plaintextRefused, "The request to \(host) was not encrypted; the rule only reports.", isEnforced: false,
            host: host, port: port, chain: [])
    }

    private func report(
        _ reason: RequestFailure.Reason, _ message: String, isEnforced: Bool, host: HostName, port: UInt16,
        chain: [CertificateFacts]
    ) {
        let entry = rules.index(for: host).map { rules.entries[$0] }
        reporter.report(
            TrustReport(
                host: host.text, port: port, reason: reason, message: message, isEnforced: isEnforced,
                pattern: entry?.pattern, pins: entry?.pins?.pins ?? [], chain: chain, time: Date()))
    }
}
