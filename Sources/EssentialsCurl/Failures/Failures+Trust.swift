import CEssentials
import EssentialsTools
import EssentialsTransport

// Refusals of the trust gates.
extension GateReport {
    /// X509_V_ERR_OUT_OF_MEM
    private static let noMemory: Int32 = 17

    /// Returns the failure for the gate's verdict, or `nil` if nothing was refused.
    func failure(host: String, phase: RequestFailure.Phase) -> RequestFailure? {
        let leaf = chain.first.map { " (\($0.subject))" } ?? ""
        switch verdict {
        case CE_VERDICT_CHAIN:
            return make(
                .trustChain,
                "The certificate of \(host)\(leaf) was refused: \(text) (X.509 error \(x509Error) at depth \(depth)).",
                remedy: Self.remedy(x509Error: x509Error))
        case CE_VERDICT_HOST:
            return make(.trustHost, "The certificate\(leaf) is not for \(host): \(text).")
        case CE_VERDICT_PINS:
            let keys = chain.map(\.publicKeyPin.text).joined(separator: ", ")
            let certificates = chain.map(\.certificatePin.text).joined(separator: ", ")
            return make(
                .pinMismatch,
                "None of the pins for \(host) matches its chain. The public keys of the chain are, leaf first, \(keys); its "
                    + "certificates are \(certificates).")
        case CE_VERDICT_PEER:
            return make(.unexpectedPeer, "The connection for \(host) leads to another TLS peer (“\(text)”).")
        case CE_VERDICT_OTHER_TRUST:
            return make(.otherTrust, "The connection to \(host) was opened under another trust policy.")
        case CE_VERDICT_TLS_TOO_OLD:
            let isNearly = text == "TLSv1.2"
            return make(
                .tlsTooOld, "The connection to \(host) uses \(text), which is below the policy's minimum.",
                remedy: HandshakeFault.versionRemedy(isNearly ? 0x0303 : 0x0302, isNearly ? 0x0304 : 0x0303))
        case CE_VERDICT_EVIDENCE:
            return make(.trustEvidence, "There is no proof of the peer's identity for the connection to \(host).")
        case CE_VERDICT_EXPIRED:
            return make(
                .trustChain, "A certificate in the chain of \(host) has expired since the connection was opened.",
                remedy: "Have the server's certificate renewed.")
        case CE_VERDICT_PLAINTEXT:
            return make(.plaintextRefused, "The connection to \(host) is not encrypted.")
        case CE_VERDICT_REVOKED:
            return make(.revoked, "The certificate of \(host)\(leaf) was refused: \(text).")
        case CE_VERDICT_STAPLE:
            return make(
                .trustChain, "The certificate of \(host) was refused: \(text).",
                remedy: "Have the server staple a valid OCSP response, or do not require one.")
        case CE_VERDICT_RULE_EXPIRED:
            return make(
                .hostRefused, "The pins for \(host) have expired, and its rule refuses the host after that.",
                remedy: "Update the pins and their expiry date.")
        case CE_VERDICT_ANCHORS:
            return make(
                .file, "The system's anchors could not be read: \(text).",
                remedy: "Check the files that SSL_CERT_FILE and SSL_CERT_DIR name, or install ca-certificates.")
        case CE_VERDICT_INTERNAL:
            let reason: RequestFailure.Reason = x509Error == Self.noMemory ? .resources : .tls
            return make(reason, "The certificate of \(host) could not be checked: \(text).")
        default: return nil
        }

        func make(
            _ reason: RequestFailure.Reason, _ message: String, remedy: String? = nil
        ) -> RequestFailure {
            RequestFailure(reason, message, remedy: remedy, phase: phase, host: host, chain: chain)
        }
    }

    /// Returns the remedy for a result of OpenSSL's verification (X509_V_ERR_…), or `nil` for the general remedy for
    /// chains.
    static func remedy(x509Error: Int32) -> String? {
        switch x509Error {
        case 9: "Check this machine's clock. If it is right, have the server use a certificate that is already valid."
        case 10: "Have the server's certificate renewed. If it is still valid, correct this machine's clock."
        case 3, 11, 12, 33, 35, 36, 44, 54:
            "Give the policy a current and complete revocation list of every authority in the chain, or no lists."
        case 20, 21: "Have the server send its intermediate certificates, or add its private authority as an anchor."
        case 26: "Have a certificate issued for servers."
        case 66...68:
            "Have the certificates reissued with RSA keys of 2048 bits or with elliptic keys, signed with SHA-256."
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
                remedy: "Check the files that SSL_CERT_FILE and SSL_CERT_DIR name, or install ca-certificates.")
        case CE_TRUST_ANCHORS:
            return invalid(
                "An anchor could not be read: \(text).", "Check that the PEM file contains complete certificates.")
        case CE_TRUST_IDENTITY_CERTIFICATE:
            return invalid("The client certificate could not be read: \(text).", "Check its PEM file.")
        case CE_TRUST_IDENTITY_KEY:
            return invalid("The client key could not be read: \(text).", "Check its PEM file.")
        case CE_TRUST_PASSPHRASE:
            return invalid("The client key could not be decrypted with its passphrase.", "Check the passphrase.")
        case CE_TRUST_REVOCATION:
            return invalid("A revocation list could not be read: \(text).", "Check that its PEM file is whole.")
        case CE_TRUST_REVOCATION_SCOPE:
            return invalid(
                "A revocation list cannot be used: \(text).",
                "Give the policy the complete list of each authority, which covers all certificates that it issued.")
        case CE_TRUST_IDENTITY_MISMATCH:
            return invalid(
                "The client key does not belong to the client certificate.",
                "Provide the key for which the certificate was issued.")
        default: return noMemory(for: "the trust policy")
        }
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidPolicy, message, remedy: remedy)
    }

    static func certificate(_ error: ce_trust_error) -> RequestFailure {
        invalid(
            "A certificate could not be read: \(GateReport.text(of: error.text)).",
            "Check that the file contains complete certificates in PEM form.")
    }

    static func unlisted(_ host: HostName) -> RequestFailure {
        RequestFailure(
            .hostRefused, "\(host) is not listed in the policy, which refuses unlisted hosts.", host: host.text)
    }

    static func noCertificate(_ host: HostName) -> RequestFailure {
        RequestFailure(.trustChain, "\(host) presented no certificate.", phase: .handshake, host: host.text)
    }

    static func unjudged(_ host: HostName) -> RequestFailure {
        RequestFailure(.trustEvidence, "The connection to \(host) could not be checked.", host: host.text)
    }

    static func takenContext(_ host: HostName) -> RequestFailure {
        RequestFailure(
            .otherTrust, "The SSL_CTX for \(host) already has another policy, or this policy for another host.",
            remedy: "Create an SSL_CTX for each policy and host.", phase: .handshake, host: host.text)
    }

    static func refusedContext(_ host: HostName) -> RequestFailure {
        RequestFailure(
            .tls, "OpenSSL did not accept the policy.", remedy: "Pass an SSL_CTX for clients.", phase: .handshake,
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
