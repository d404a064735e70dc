import EssentialsHTTP
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import ServiceEssentials

/// The output of `--verbose` on standard error: each request (`>`), its connection (`*`) and the head of its response
/// (`<`).
struct VerboseLog: Sendable {
    /// Whether values that look secret are printed.
    let showsSecrets: Bool

    /// Prints a request before it is sent.
    ///
    /// - Parameter fields: All field lines of the request.
    func sends(_ request: TransportRequest, fields: [String]) {
        var lines = ["> \(request.method.rawValue) \(shown(target: request.url.target))"]
        lines += fields.map { "> " + shown(line: $0) } + [">"]
        if let length = request.body.shownLength { lines.append("* with a body of \(length)") }
        print(lines)
    }

    /// Prints the connection and the head of a response.
    func received(_ response: TransportResponse) {
        let facts = response.connection
        print(connection(facts))
        for interim in response.informational { print(head(interim, facts)) }
        print(head(response.head, facts))
    }

    /// Prints why there is no response.
    func failed(_ failure: RequestFailure) {
        switch failure.phase {
        case .sending, .waiting, .receiving: print(["* the request failed after at least a part of it was sent"])
        default: print(["* the request was not sent"])
        }
    }

    /// Prints the certificates and the pins of a refused connection.
    func refused(_ report: TrustReport) {
        var lines = chain(report.chain)
        if !report.pins.isEmpty {
            lines.append("* \(rule(report.pattern)) requires one of these pins:")
            lines += report.pins.map { "*   \($0)" }
        }
        print(lines)
    }

    // MARK: Connection

    private func connection(_ facts: ConnectionFacts) -> [String] {
        let peer = facts.peerAddress.isEmpty ? "" : " to \(facts.peerAddress) port \(facts.peerPort)"
        let age = facts.isReused ? "reused connection" : "new connection"
        let name = facts.protocolName.isEmpty ? "HTTP" : facts.protocolName
        var lines = ["* \(name)\(peer), \(age)"]
        if let version = facts.tlsVersion { lines.append("* \(version), \(facts.tlsCipher ?? "unknown cipher")") }
        guard let trust = facts.trust else { return lines }
        // The certificates of a reused connection were printed with its first request.
        if !facts.isReused { lines += chain(trust.chain) }
        return lines + [pin(trust)]
    }

    private func chain(_ chain: [CertificateFacts]) -> [String] {
        let now = Int64(time(nil))
        return chain.enumerated().flatMap { index, certificate -> [String] in
            let subject = certificate.subject.isEmpty ? "unknown subject" : VisibleText.line(certificate.subject)
            var lines = ["* certificate \(index + 1): \(subject)"]
            if index + 1 < chain.count, !chain[index + 1].subject.isEmpty {
                lines.append("*   issued by \(VisibleText.line(chain[index + 1].subject))")
            }
            if certificate.notAfter > 0 { lines.append("*   \(PinsReport.validity(of: certificate, now: now))") }
            lines.append("*   public key  \(certificate.publicKeyPin.text)")
            lines.append("*   certificate \(certificate.certificatePin.text)")
            return lines
        }
    }

    private func pin(_ trust: TrustFacts) -> String {
        guard let pins = trust.pins else { return "* no pins: \(rule(trust.pattern)) has none" }
        if let expires = pins.expires, expires.timeIntervalSince1970 <= Double(time(nil)) {
            return "* no pins: those of \(rule(trust.pattern)) have expired"
        }
        guard let match = trust.match else { return "* no pin matches; \(rule(trust.pattern)) only reports that" }
        return "* pin matches: \(match.pin), certificate \(match.index + 1), by \(rule(trust.pattern))"
    }

    private func rule(_ pattern: HostPattern?) -> String {
        pattern.map { "the rule for \($0)" } ?? "the rule for unlisted hosts"
    }

    // MARK: Lines

    private func head(_ head: HTTPResponse, _ facts: ConnectionFacts) -> [String] {
        let name = facts.protocolName.isEmpty ? "HTTP" : facts.protocolName
        return ["< \(name) \(VisibleText.line(StatusText.text(of: head.status)))"]
            + head.headerFields.map { "< " + shown(line: ResponseHeadText.line($0)) } + ["<"]
    }

    private func print(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        StandardStream.endLine()
        StandardStream.error.printLine(lines.joined(separator: "\n"))
    }

    /// A field line in visible characters, without a value that looks secret.
    func shown(line: String) -> String {
        let name = line.prefix { $0 != ":" }
        guard !showsSecrets else { return VisibleText.line(line) }
        if SecretName.isSecret(String(name), .shown) { return "\(VisibleText.line(String(name))): …" }
        return shown(target: line)
    }

    /// A request target, or a text with URLs, without credentials and values that look secret.
    func shown(target: String) -> String {
        VisibleText.line(showsSecrets ? target : Redaction.named.shown(text: target))
    }
}

extension RequestBody {
    /// The length in words; `nil` if there is no body.
    var shownLength: String? {
        switch content {
        case .none: nil
        case .bytes(let data): "\(data.count) bytes"
        case .stream(let length, _, _): length.map { "\($0) bytes" } ?? "unknown length"
        }
    }
}
