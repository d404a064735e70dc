#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A connection that a trust policy refused, or would have refused without the mode `reportOnly`.
///
/// ```swift
/// for await report in transport.trustReports { try logFile.append(report.json + "\n") }
/// ```
///
/// The library does not send reports anywhere.
public struct TrustReport: Sendable, Hashable {
    /// The requested host.
    public let host: String
    /// The port; 0 if unknown.
    public let port: UInt16
    /// The reason of the refusal.
    public let reason: RequestFailure.Reason
    /// The reason as a sentence.
    public let message: String
    /// Whether the connection was refused. It is false in the mode `reportOnly`.
    public let isEnforced: Bool
    /// The pattern of the applied rule; `nil` for unlisted hosts.
    public let pattern: HostPattern?
    /// The pins that were required.
    public let pins: [Pin]
    /// The certificates that were checked, leaf first: the verified chain, if there is one. Empty if there was none.
    public let chain: [CertificateFacts]
    /// The time of the decision.
    public let time: Date

    /// Creates a report from its parts.
    public init(
        host: String, port: UInt16, reason: RequestFailure.Reason, message: String, isEnforced: Bool,
        pattern: HostPattern?, pins: [Pin], chain: [CertificateFacts], time: Date
    ) {
        self.host = host
        self.port = port
        self.reason = reason
        self.message = message
        self.isEnforced = isEnforced
        self.pattern = pattern
        self.pins = pins
        self.chain = chain
        self.time = time
    }

    /// The report as one line of JSON (RFC 8259) with sorted keys; times are in seconds since 1970.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, numbers and arrays of them can always be encoded.
        guard let data = try? encoder.encode(Encoded(self)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }

    private struct Encoded: Encodable {
        struct Certificate: Encodable {
            let subject: String
            let notBefore, notAfter: Int64
            let certificate, publicKey: String
        }

        let host, reason, message: String
        let port: UInt16
        let enforced: Bool
        let rule: String?
        let pins: [String]
        let chain: [Certificate]
        let time: Int64

        init(_ report: TrustReport) {
            host = report.host
            port = report.port
            reason = report.reason.description
            message = report.message
            enforced = report.isEnforced
            rule = report.pattern?.description
            pins = report.pins.map(\.description)
            chain = report.chain.map {
                Certificate(
                    subject: $0.subject, notBefore: $0.notBefore, notAfter: $0.notAfter,
                    certificate: $0.certificatePin.text, publicKey: $0.publicKeyPin.text)
            }
            time = Int64(report.time.timeIntervalSince1970)
        }
    }
}

/// The properties of one certificate in a trust decision.
public struct CertificateFacts: Sendable, Hashable {
    /// The subject in the form of RFC 2253. Control, bidirectional and invisible characters are escaped, such as
    /// `\u{202E}`. Empty for a reused connection, whose pins alone are known.
    public let subject: String
    /// The start of the validity period, in seconds since 1970; 0 if unknown.
    public let notBefore: Int64
    /// The end of the validity period, in seconds since 1970; 0 if unknown.
    public let notAfter: Int64
    /// The pin of the certificate.
    public let certificatePin: Pin
    /// The pin of the public key.
    public let publicKeyPin: Pin

    /// Creates a value from its parts.
    public init(subject: String, notBefore: Int64, notAfter: Int64, certificatePin: Pin, publicKeyPin: Pin) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.certificatePin = certificatePin
        self.publicKeyPin = publicKeyPin
    }
}
