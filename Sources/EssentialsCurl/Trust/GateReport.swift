import CEssentials
import EssentialsTransport

/// The findings of a trust gate as Swift values.
struct GateReport {
    var verdict: ce_verdict
    var text: String
    var x509Error: Int32
    var depth: Int32
    var chain: [CertificateFacts]
    /// The indexes of the matched pin in its rule and of its certificate in the chain.
    var match: (pin: Int, certificate: Int)?
    /// The protocol of the server's first bytes, the version of its ServerHello, and the required version. The versions
    /// are numbers of TLS, and 0 if they are unknown. All three are used only for the message of a handshake that
    /// failed for a reason other than trust.
    var spoken: ce_spoken
    var serverVersion: Int32
    var minimumVersion: Int32

    init(_ pointer: UnsafePointer<ce_report>) {
        verdict = pointer.pointee.verdict
        x509Error = pointer.pointee.x509_error
        depth = pointer.pointee.depth
        text = Self.text(of: pointer.pointee.text)
        let found = pointer.pointee.match
        match = found.is_found ? (Int(found.pin), Int(found.depth)) : nil
        spoken = pointer.pointee.spoken
        serverVersion = pointer.pointee.server_version
        minimumVersion = pointer.pointee.minimum_tls
        // The entries are read in place, because `pointer` is valid during this call.
        let offset = MemoryLayout<ce_report>.offset(of: \.chain) ?? 0
        let entries = UnsafeRawPointer(pointer).advanced(by: offset).assumingMemoryBound(to: ce_chain_entry.self)
        chain = (0..<Int(pointer.pointee.chain_count)).compactMap { Self.facts(entries[$0]) }
    }

    private static func facts(_ entry: ce_chain_entry) -> CertificateFacts? {
        guard let certificate = try? Pin(kind: .certificate, digest: bytes(of: entry.digests.certificate)),
            let key = try? Pin(kind: .publicKey, digest: bytes(of: entry.digests.public_key))
        else { return nil }
        return CertificateFacts(
            subject: visible(text(of: entry.subject)), notBefore: entry.not_before, notAfter: entry.not_after,
            certificatePin: certificate, publicKeyPin: key)
    }

    /// Returns a name in which each invisible character is replaced by its number, such as `\u{202E}`.
    ///
    /// Control characters could forge lines, bidirectional ones could change the reading order, and others could make
    /// two names look the same.
    static func visible(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            if scalar.isInvisible {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    static func text<Tuple>(of tuple: Tuple) -> String {
        withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func bytes<Tuple>(of tuple: Tuple) -> [UInt8] { withUnsafeBytes(of: tuple) { Array($0) } }
}

extension TrustFacts {
    /// The findings about a trusted connection.
    init(_ report: GateReport, _ entry: HostRuleTable.Entry) {
        let match = report.match.flatMap { match in
            entry.pins.map { (pin: $0.pins[match.pin], index: match.certificate) }
        }
        self.init(chain: report.chain, pattern: entry.pattern, pins: entry.pins, match: match)
    }
}
