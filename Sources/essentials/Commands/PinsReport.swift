import EssentialsTools
import EssentialsTransport
import ServiceEssentials

/// The output of `essentials pins`: Swift array elements with comments, or a policy file.
struct PinsReport {
    let chain: CertificateChain
    /// The server; `nil` for certificates from a file, whose order has no meaning.
    let host: HostName?
    /// The anchors given on the command line.
    let anchors: AnchorFiles?

    private static let day: Int64 = 86_400
    /// How long before its expiration a certificate produces a warning.
    private static let warningPeriod = 30 * day
    private var isFile: Bool { host == nil }

    var lines: [String] {
        let now = Int64(time(nil))
        return chain.certificates.enumerated().flatMap { index, certificate in
            let subject = certificate.subject.isEmpty ? "no subject" : OneLine.text(certificate.subject)
            let comment = "// \(subject), \(role(of: index)), \(Self.validity(of: certificate, now: now))"
            return [
                "try Pin.publicKey(\"\(certificate.publicKeyPin.text)\"),  \(comment)",
                "try Pin.certificate(\"\(certificate.certificatePin.text)\"),  \(comment)",
            ]
        }
    }

    /// A policy file with the public keys of the leaf and its issuer, or of all certificates of a file.
    var policyLines: [String] {
        let keys = chain.certificates.prefix(isFile ? .max : 2).map(\.publicKeyPin.text)
        var pins = ["\"pins\": [\(keys.map(JSONText.quoted).joined(separator: ", "))]"]
        if Set(keys).count < 2 { pins.append("\"singlePin\": true") }
        var members: [String] = []
        if let anchors = anchors?.policyText { members.append("\"anchors\": \(anchors)") }
        if let host {
            let rule = ["\"host\": \(JSONText.quoted(host.text))"] + pins
            members.append("\"hosts\": [\n        {\(rule.joined(separator: ", "))}\n    ]")
        } else {
            members.append("\"unlistedHosts\": {\(pins.joined(separator: ", "))}")
        }
        return ["{"] + ["    " + members.joined(separator: ",\n    ")] + ["}"]
    }

    /// Warnings about the certificates, one per line.
    var warnings: [String] {
        let now = Int64(time(nil))
        var warnings = chain.distrust.map { [FailurePrinter.text(of: $0)] } ?? []
        for certificate in chain.certificates where certificate.notAfter - now < Self.warningPeriod {
            warnings.append(
                "\(OneLine.text(certificate.subject)) \(Self.validity(of: certificate, now: now))")
        }
        return warnings
    }

    private func role(of index: Int) -> String {
        if isFile { return "certificate \(index + 1) of \(chain.certificates.count)" }
        if index == 0 { return "leaf" }
        return index == chain.certificates.count - 1 && chain.distrust == nil ? "root" : "intermediate"
    }

    static func validity(of certificate: CertificateFacts, now: Int64) -> String {
        let left = certificate.notAfter - now
        let days = abs(left) / day
        let count = days == 1 ? "1 day" : "\(days) days"
        return left < 0
            ? "expired \(date(certificate.notAfter)), \(count) ago"
            : "expires \(date(certificate.notAfter)), \(count) left"
    }

    /// The date in UTC, in ISO 8601 format.
    private static func date(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        gmtime_r(&moment, &parts)
        let twoDigits = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + Int(parts.tm_year))-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))"
    }
}
