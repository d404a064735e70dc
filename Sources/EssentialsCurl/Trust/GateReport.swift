import CEssentials
import EssentialsTransport

/// What the gates found, as Swift values.
struct GateReport {
    var verdict: ce_verdict
    var text: String
    var x509Error: Int32
    var depth: Int32
    var chain: [CertificateFacts]

    init(_ pointer: UnsafePointer<ce_report>) {
        verdict = pointer.pointee.verdict
        x509Error = pointer.pointee.x509_error
        depth = pointer.pointee.depth
        text = Self.text(of: pointer.pointee.text)
        // The entries are read in place: `pointer` is valid for this call.
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

    /// A name in which each invisible character is replaced by its number, such as `\u{202E}`. Control characters could
    /// forge lines, bidirectional ones could change the reading order, and others could make two names look the same.
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

    /// What to try after a result of OpenSSL's verification (X509_V_ERR_…); nil where it is the same as for any chain.
    static func remedy(x509Error: Int32) -> String? {
        switch x509Error {
        case 9: "Check this machine's clock; if it is right, the server has its certificate too early."
        case 10: "Have the server's certificate renewed. If it is still valid, correct this machine's clock."
        case 3, 11, 12, 33, 35, 36, 44, 54:
            "Give a current revocation list of every authority in the chain, whole and for all reasons, or demand none."
        case 20, 21: "Have the server send its intermediate certificates, or name its private authority as an anchor."
        case 26: "Have a certificate issued that is for servers."
        case 66...68:
            "Have the certificates reissued with RSA keys of 2048 bits or elliptic ones, signed by way of SHA-256."
        default: nil
        }
    }

    private static func bytes<Tuple>(of tuple: Tuple) -> [UInt8] { withUnsafeBytes(of: tuple) { Array($0) } }
}

extension GateReport {
    /// The failure that a refusal means; nil when nothing was refused.
    func failure(host: String, phase: RequestFailure.Phase) -> RequestFailure? {
        let leaf = chain.first?.subject ?? "no certificate"
        switch verdict {
        case CE_VERDICT_CHAIN:
            return make(
                .trustChain,
                "The certificate of \(host) (\(leaf)) was refused: \(text) (X.509 error \(x509Error) at depth \(depth)).",
                remedy: Self.remedy(x509Error: x509Error))
        case CE_VERDICT_HOST:
            return make(.trustHost, "The certificate (\(leaf)) is not for \(host): \(text).")
        case CE_VERDICT_PINS:
            let keys = chain.map(\.publicKeyPin.text).joined(separator: ", ")
            let certificates = chain.map(\.certificatePin.text).joined(separator: ", ")
            return make(
                .pinMismatch,
                "None of the pins for \(host) matches its chain, whose public keys are, leaf first, \(keys), and whose "
                    + "certificates are \(certificates).")
        case CE_VERDICT_PEER:
            return make(.unexpectedPeer, "The connection for \(host) leads to another TLS peer (“\(text)”).")
        case CE_VERDICT_OTHER_TRUST:
            return make(.otherTrust, "The connection to \(host) was made under another policy.")
        case CE_VERDICT_TLS_TOO_OLD:
            return make(.tlsTooOld, "The connection to \(host) speaks \(text), below the policy's floor.")
        case CE_VERDICT_EVIDENCE:
            return make(.trustEvidence, "The connection to \(host) carries no proof of its peer.")
        case CE_VERDICT_EXPIRED:
            return make(.trustChain, "A certificate in the chain of \(host) expired since the connection was made.")
        case CE_VERDICT_PLAINTEXT:
            return make(.plaintextRefused, "The connection to \(host) is not encrypted.")
        case CE_VERDICT_REVOKED:
            return make(.revoked, "The certificate of \(host) (\(leaf)) was revoked: \(text).")
        case CE_VERDICT_STAPLE:
            return make(
                .trustChain, "The certificate of \(host) was refused: \(text).",
                remedy: "Have the server staple a valid OCSP response, or demand none.")
        case CE_VERDICT_RULE_EXPIRED:
            return make(
                .hostRefused, "The pins for \(host) have expired, and its rule says to refuse it then.",
                remedy: "Renew the pins.")
        case CE_VERDICT_ANCHORS:
            return make(
                .file, "The system's anchors could not be read: \(text).",
                remedy: "Check SSL_CERT_FILE and SSL_CERT_DIR.")
        case CE_VERDICT_INTERNAL:
            return make(.tls, "The certificate of \(host) could not be judged: \(text).")
        default: return nil
        }

        func make(
            _ reason: RequestFailure.Reason, _ message: String, remedy: String? = nil
        ) -> RequestFailure {
            RequestFailure(reason, message, remedy: remedy, phase: phase, host: host, chain: chain)
        }
    }
}
