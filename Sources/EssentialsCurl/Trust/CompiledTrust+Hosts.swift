import CEssentials
public import EssentialsTransport
import FoundationEssentials

// The policy by host, and for TLS that is not the library's own.
extension CompiledTrust {
    /// The index of the rule for a host.
    ///
    /// - Throws: `hostRefused`.
    func rule(for host: HostName) throws(RequestFailure) -> Int {
        guard let index = rules.index(for: host) else {
            throw RequestFailure(
                .hostRefused, "\(host) is not listed in the policy, which refuses such hosts.", host: host.text)
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

    /// Judges a chain that came some other way than through a transport, as the transport would: signatures, validity, purpose,
    /// host name, revocation lists, pins. Staples belong to a handshake and are not judged.
    ///
    /// ```swift
    /// let path = try trust.evaluate(chain: peerCertificates, host: HostName("stream.example.com"))
    /// ```
    ///
    /// Any thread. Costs a signature check for each certificate, some 100 µs.
    ///
    /// - Parameters:
    ///   - chain: The certificates as presented, in DER form, the server's own first.
    ///   - host: Who the server should be.
    /// - Returns: The verified path, root included.
    /// - Throws: `trustChain`, `trustHost`, `pinMismatch`, `revoked` or `hostRefused`.
    @discardableResult
    public func evaluate(chain: [[UInt8]], host: HostName) throws(RequestFailure) -> [CertificateFacts] {
        let rule = try reportedRule(for: host)
        var report = ce_report()
        // One block, so that the pointers into it are valid together.
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
                ?? RequestFailure(
                    .trustChain, "\(host) presented no certificate.", phase: .handshake, host: host.text)
            self.report(failure, host: host, port: 0)
            throw failure
        }
        if report.missed_pins { reportMissedPins(host: host, port: 0, chain: found.chain) }
        return found.chain
    }

    /// Has an `SSL_CTX` that the program made for itself judge its peer by the policy, inside the handshake: anchors,
    /// host name, pins, revocation, TLS floor, and the client's identity. For protocols that the transport does not
    /// speak.
    ///
    /// ```swift
    /// try trust.install(on: context, host: HostName("stream.example.com"))   // before SSL_new
    /// // SSL_set_tlsext_host_name(ssl, "stream.example.com"), SSL_connect(ssl)
    /// try trust.judge(ssl, host: HostName("stream.example.com"))              // after the handshake, resumed or not
    /// ```
    ///
    /// - Parameters:
    ///   - context: An OpenSSL `SSL_CTX *` of the libssl that the process is linked with. It keeps what it needs of the policy.
    ///     Its handshakes may follow one another; those that run at the same time need a context each. A context takes
    ///     one policy for one host: OpenSSL cannot take an identity off a context, so another policy or host is refused
    ///     and changes nothing. The same policy for the same host may be installed again.
    ///   - host: Who the server should be. The server name of every `SSL` made from the context has to be this host; an
    ///     address has none.
    /// - Throws: `hostRefused`, `otherTrust` for a context with another policy or host, `file` for a bundle of the system's
    ///   anchors that cannot be read, and `tls` when OpenSSL refuses.
    public func install(on context: OpaquePointer, host: HostName) throws(RequestFailure) {
        let rule = try reportedRule(for: host)
        // The pointer is the caller's SSL_CTX, as the documentation demands; C has no way to check it.
        switch ce_trust_install(pointer, rule, host.text, host.isAddress, UnsafeMutableRawPointer(context)) {
        case CE_INSTALL_DONE: return
        case CE_INSTALL_TAKEN:
            throw RequestFailure(
                .otherTrust, "The SSL_CTX for \(host) has a policy already, or this policy for another host.",
                remedy: "Make an SSL_CTX for each policy and host.", phase: .handshake, host: host.text)
        default:
            let report = ce_trust_installed_report(UnsafeMutableRawPointer(context)).map(GateReport.init)
            if let failure = report?.failure(host: host.text, phase: .handshake) { throw failure }
            throw RequestFailure(
                .tls, "OpenSSL did not take the policy over.", remedy: "Give a client's SSL_CTX.", phase: .handshake,
                host: host.text)
        }
    }

    /// Judges a connection whose handshake is done by the policy. A resumed session had no handshake in which
    /// ``install(on:host:)`` could judge, so it is needed before the first byte is sent.
    ///
    /// - Parameters:
    ///   - connection: An OpenSSL `SSL *` from a context that ``install(on:host:)`` was called on.
    ///   - host: Who the server should be.
    /// - Throws: as the transport does before a request: `pinMismatch`, `otherTrust`, `unexpectedPeer`, `tlsTooOld`,
    ///   `trustEvidence`, `trustChain` for a chain that has expired since, `hostRefused`.
    public func judge(_ connection: OpaquePointer, host: HostName) throws(RequestFailure) {
        let rule = try reportedRule(for: host)
        var report = ce_report()
        // The pointer is the caller's SSL, as above.
        if ce_trust_judge(pointer, rule, host.text, UnsafeMutableRawPointer(connection), &report) {
            if report.missed_pins { reportMissedPins(host: host, port: 0, chain: GateReport(&report).chain) }
            return
        }
        let failure =
            GateReport(&report).failure(host: host.text, phase: .handshake)
            ?? RequestFailure(.trustEvidence, "The connection to \(host) could not be judged.", host: host.text)
        self.report(failure, host: host, port: 0)
        throw failure
    }

    /// Why a handshake was refused that ``install(on:host:)`` watched over; nil when it was not, or has not come so far.
    /// Reports the refusal. For one connection from each context: the last handshake counts.
    ///
    /// - Parameters:
    ///   - context: The `SSL_CTX *` that was given to ``install(on:host:)``.
    ///   - host: The host that was given to it.
    public func refusal(on context: OpaquePointer, host: HostName) -> RequestFailure? {
        // The pointer is the caller's SSL_CTX, as above; the report in it is read during the call.
        guard let found = ce_trust_installed_report(UnsafeMutableRawPointer(context)),
            let failure = GateReport(found).failure(host: host.text, phase: .handshake)
        else { return nil }
        report(failure, host: host, port: 0)
        return failure
    }

    // MARK: Reports

    /// Whether a failure is the policy's doing.
    private static let judgements: Set<RequestFailure.Reason> = [
        .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .otherTrust, .tlsTooOld, .trustEvidence, .revoked,
        .hostRefused, .plaintextRefused,
    ]

    /// Reports a refusal; nothing for other failures.
    func report(_ failure: RequestFailure, host: HostName, port: UInt16) {
        guard Self.judgements.contains(failure.reason) else { return }
        report(failure.reason, failure.message, isEnforced: true, host: host, port: port, chain: failure.chain)
    }

    /// Reports a chain without pins under a rule that only reports.
    func reportMissedPins(host: HostName, port: UInt16, chain: [CertificateFacts]) {
        report(
            .pinMismatch, "None of the pins for \(host) matches its chain; the rule only reports.", isEnforced: false,
            host: host, port: port, chain: chain)
    }

    /// Reports plain `http` under a rule that only reports.
    func reportPlaintext(host: HostName, port: UInt16) {
        report(
            .plaintextRefused, "\(host) was asked without encryption; the rule only reports.", isEnforced: false,
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
