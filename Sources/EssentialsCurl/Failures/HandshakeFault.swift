import CEssentials
import EssentialsTransport

/// A TLS handshake that failed for a reason other than trust: the cause and the remedy.
///
/// No bytes of the server become part of a text. They only decide between texts.
struct HandshakeFault: Equatable {
    /// The peer as messages name it, such as `https://a.example`.
    var peer: String
    /// The text of libcurl or OpenSSL.
    var detail: String
    /// The protocol that the server speaks, according to its first bytes.
    var spoken = CE_SPEAKS_NOTHING
    /// The version of the server's ServerHello, or 0 if there was none.
    var serverVersion: Int32 = 0
    /// The minimum version of the policy, or 0 if it is not known.
    var minimumVersion: Int32 = 0

    /// The reason and the texts of the failure.
    struct Account: Equatable {
        var reason = RequestFailure.Reason.tls
        var message: String
        var remedy: String?
    }

    var account: Account {
        if let account = otherProtocol ?? otherVersion { return account }
        if let alert { return refusal(alert) }
        if detail.contains("unexpected eof") || detail.contains("SSL_ERROR_SYSCALL")
            || detail.contains("Connection reset") || detail.contains("hung up")
        {
            return Account(
                message: "\(peer) closed the connection during the TLS handshake.",
                remedy: "Check that the port speaks TLS, and that no firewall ends the connection.")
        }
        if detail.contains("unsafe legacy renegotiation") {
            return Account(
                message: "\(peer) does not support secure renegotiation (RFC 5746).",
                remedy: "Have the server's TLS library updated.")
        }
        return Account(message: "The TLS handshake with \(peer) failed: \(reasonText).")
    }

    // MARK: Another protocol

    private var otherProtocol: Account? {
        switch spoken {
        case CE_SPEAKS_HTTP:
            Account(
                message: "\(peer) speaks plain HTTP on this port instead of TLS.",
                remedy: "Use the port on which the server speaks TLS, or http:// if this server needs no encryption.")
        case CE_SPEAKS_SSH:
            Account(message: "\(peer) is an SSH server.", remedy: "Correct the port.")
        case CE_SPEAKS_MAIL:
            Account(message: "\(peer) is a mail or FTP server.", remedy: "Correct the port.")
        case CE_SPEAKS_UNKNOWN:
            Account(
                message: "\(peer) did not use TLS to respond to the TLS handshake.",
                remedy: "Check the port, and whether a firewall or proxy responds in the server's place.")
        default: nil
        }
    }

    // MARK: Another version

    /// Whether OpenSSL's text says that the TLS versions do not match.
    static func isVersionMismatch(_ detail: String) -> Bool {
        detail.contains("unsupported protocol") || detail.contains("protocol version")
            || detail.contains("no protocols available")
    }

    private static let tls12: Int32 = 0x0303
    private static let tls13: Int32 = 0x0304

    private var otherVersion: Account? {
        guard Self.isVersionMismatch(detail) else { return nil }
        if detail.contains("no protocols available") {
            return Account(
                reason: .tlsTooOld, message: "OpenSSL's configuration on this machine does not allow \(allowed).",
                remedy: "Raise MaxProtocol in OpenSSL's configuration file, or remove it.")
        }
        let message =
            serverVersion == 0
            ? "\(peer) does not accept \(allowed)."
            : "\(peer) chose \(Self.name(of: serverVersion)) instead of \(allowed)."
        return Account(reason: .tlsTooOld, message: message, remedy: Self.versionRemedy(serverVersion, minimumVersion))
    }

    /// The remedy if a server's version is too old.
    ///
    /// - Parameter server: The server's version, or 0 if it is unknown.
    static func versionRemedy(_ server: Int32, _ minimum: Int32) -> String {
        if minimum < tls13 { return "Have the server offer TLS 1.2 or 1.3; no policy allows older versions." }
        return switch server {
        case tls12: "Have the server offer TLS 1.3, or set the policy's minimumTLS to 1.2."
        case 0: "Have the server offer TLS 1.3, or set the policy's minimumTLS to 1.2 if the server offers that."
        default: "Have the server offer TLS 1.3, which the policy requires; no policy allows less than 1.2."
        }
    }

    private var allowed: String {
        minimumVersion < Self.tls13 ? "TLS 1.2 or 1.3" : "TLS 1.3, which the policy requires"
    }

    private static func name(of version: Int32) -> String {
        switch version {
        case 0x0300: "SSL 3"
        case 0x0301: "TLS 1.0"
        case 0x0302: "TLS 1.1"
        case tls12: "TLS 1.2"
        case tls13: "TLS 1.3"
        default: "an unknown version of TLS"
        }
    }

    // MARK: Alerts

    /// The remedy if the server requires a client certificate.
    static let identityRemedy =
        "Give the policy a client identity, which is a client certificate that the server accepts."

    /// The name of the alert (RFC 8446, 6) that the server sent, such as `handshake failure`. OpenSSL's text for it is
    /// one of a fixed set.
    var alert: String? {
        guard let found = detail.firstRange(of: " alert ") else { return nil }
        return String(detail[found.upperBound...].prefix { $0 != "," && $0 != "(" })
    }

    private func refusal(_ alert: String) -> Account {
        let message = "\(peer) ended the TLS handshake with the alert “\(alert)”."
        let remedy: String? =
            switch alert {
            case "certificate required", "bad certificate", "no certificate":
                Self.identityRemedy
            case "unknown ca", "certificate unknown", "unsupported certificate", "certificate expired",
                "certificate revoked", "access denied":
                "Give the policy another client identity: the server does not accept the current one."
            case "unrecognized name", "unknown name": "Check the host name: the server has no certificate for it."
            case "handshake failure", "insufficient security":
                minimumVersion < Self.tls13
                    ? "Check which ciphers and keys the server offers, and whether it requires a client certificate."
                    : "Check whether the server offers TLS 1.3, which the policy requires, and whether it requires a "
                        + "client certificate."
            default: nil
            }
        return Account(message: message, remedy: remedy)
    }

    /// OpenSSL's reason without the error number and the names of its libraries.
    private var reasonText: String {
        guard detail.hasPrefix("error:"), let parts = detail.ranges(of: "::").last else { return detail }
        return String(detail[parts.upperBound...])
    }
}

extension HandshakeFault {
    /// - Parameter report: The report of the handshake gate; `nil` if no handshake began.
    init(peer: String, detail: String, report: GateReport?) {
        self.init(
            peer: peer, detail: detail, spoken: report?.spoken ?? CE_SPEAKS_NOTHING,
            serverVersion: report?.serverVersion ?? 0, minimumVersion: report?.minimumVersion ?? 0)
    }
}
