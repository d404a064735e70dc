import Glibc
import ServiceEssentials

/// The lines that `essentials pins` prints: Swift array elements with comments.
struct PinsReport {
    let chain: CertificateChain
    /// Whether the certificates come from a file, where their order means nothing.
    let isFile: Bool

    private static let day: Int64 = 86_400

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

    private func role(of index: Int) -> String {
        if isFile { return "certificate \(index + 1) of \(chain.certificates.count)" }
        if index == 0 { return "leaf" }
        return index == chain.certificates.count - 1 && chain.distrust == nil ? "root" : "intermediate"
    }

    private static func validity(of certificate: CertificateFacts, now: Int64) -> String {
        let left = certificate.notAfter - now
        let days = abs(left) / day
        let count = days == 1 ? "1 day" : "\(days) days"
        return left < 0
            ? "expired \(date(certificate.notAfter)), \(count) ago"
            : "expires \(date(certificate.notAfter)), \(count) left"
    }

    /// The day in UTC, as ISO 8601 writes it.
    private static func date(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        gmtime_r(&moment, &parts)
        let twoDigits = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + Int(parts.tm_year))-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))"
    }
}
