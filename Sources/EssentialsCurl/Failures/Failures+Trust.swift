import CEssentials
import EssentialsTransport
import Glibc

// Refusals of the trust gates.
extension GateReport {
    /// X509_V_ERR_OUT_OF_MEM
    private static let noMemory: Int32 = 17

    /// Returns the failure for the gate's verdict, or `nil` if nothing was refused.
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
            let isNearly = text == "TLSv1.2"
            return make(
                .tlsTooOld, "The connection to \(host) uses \(text), which is below the policy's minimum.",
                remedy: HandshakeFault.versionRemedy(isNearly ? 0x0303 : 0x0302, isNearly ? 0x0304 : 0x0303))
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
            let reason: RequestFailure.Reason = x509Error == Self.noMemory ? .resources : .tls
            return make(reason, "The certificate of \(host) could not be judged: \(text).")
        default: return nil
        }

        func make(
            _ reason: RequestFailure.Reason, _ message: String, remedy: String? = nil
        ) -> RequestFailure {
            RequestFailure(reason, message, remedy: remedy, phase: phase, host: host, chain: chain)
        }
    }

    /// Returns what to try after a result of OpenSSL's verification (X509_V_ERR_…), or `nil` for the advice that every
    /// chain has.
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
}

// Policies that cannot be used, and peers that a policy refuses outside a transfer.
extension Failures {
    /// OpenSSL could not compile a policy.
    static func policy(_ error: ce_trust_error) -> RequestFailure {
        let text = GateReport.text(of: error.text)
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
            return invalid("The client key could not be read: \(text).", "Check its PEM file.")
        case CE_TRUST_PASSPHRASE:
            return invalid("The client key could not be decrypted: \(text).", "Check the passphrase.")
        case CE_TRUST_REVOCATION:
            return invalid("A revocation list could not be read: \(text).", "Check that its PEM file is whole.")
        case CE_TRUST_REVOCATION_SCOPE:
            return invalid(
                "A revocation list cannot be judged: \(text).",
                "Give the whole list of each authority, which is about all of its own certificates.")
        case CE_TRUST_IDENTITY_MISMATCH:
            return invalid(
                "The client key does not belong to the client certificate.",
                "Give the key the certificate was made for.")
        default: return noMemory(for: "the trust policy")
        }
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidPolicy, message, remedy: remedy)
    }

    static func certificate(_ error: ce_trust_error) -> RequestFailure {
        invalid(
            "A certificate could not be read: \(GateReport.text(of: error.text)).",
            "Check that the file holds whole certificates in PEM form.")
    }

    static func unlisted(_ host: HostName) -> RequestFailure {
        RequestFailure(
            .hostRefused, "\(host) is not listed in the policy, which refuses such hosts.", host: host.text)
    }

    static func noCertificate(_ host: HostName) -> RequestFailure {
        RequestFailure(.trustChain, "\(host) presented no certificate.", phase: .handshake, host: host.text)
    }

    static func unjudged(_ host: HostName) -> RequestFailure {
        RequestFailure(.trustEvidence, "The connection to \(host) could not be judged.", host: host.text)
    }

    static func takenContext(_ host: HostName) -> RequestFailure {
        RequestFailure(
            .otherTrust, "The SSL_CTX for \(host) has a policy already, or this policy for another host.",
            remedy: "Make an SSL_CTX for each policy and host.", phase: .handshake, host: host.text)
    }

    static func refusedContext(_ host: HostName) -> RequestFailure {
        RequestFailure(
            .tls, "OpenSSL did not take the policy over.", remedy: "Give a client's SSL_CTX.", phase: .handshake,
            host: host.text)
    }

    // MARK: Servers whose chain is inspected

    static func unresolved(_ host: HostName, _ code: Int32) -> RequestFailure {
        guard code != EAI_MEMORY else { return noMemory(for: "the addresses of \(host)") }
        return RequestFailure(
            .nameResolution, "\(host) has no address: \(String(cString: gai_strerror(code))).",
            phase: .nameResolution, host: host.text)
    }

    static func unresolved(_ host: HostName) -> RequestFailure {
        RequestFailure(.nameResolution, "\(host) has no address.", host: host.text)
    }

    static func probe(
        _ result: ce_probe_result, _ found: GateReport, host: HostName, port: UInt16
    ) -> RequestFailure {
        switch result {
        case CE_PROBE_CONNECT:
            return RequestFailure(
                .connection, "\(host):\(port) could not be reached: \(found.text).", phase: .connect, host: host.text)
        case CE_PROBE_TIMEOUT:
            return RequestFailure(
                .timeout, "\(host):\(port) did not complete the TLS handshake in time.", phase: .handshake,
                host: host.text)
        default:
            // The gate refuses nothing in a probe, except that it may fail to read the anchors.
            if let failure = found.failure(host: host.text, phase: .handshake) { return failure }
            let account = HandshakeFault(peer: "\(host):\(port)", detail: found.text, report: found).account
            return RequestFailure(
                account.reason, account.message, remedy: account.remedy, phase: .handshake, host: host.text)
        }
    }
}
