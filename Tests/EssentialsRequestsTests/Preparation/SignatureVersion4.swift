import EssentialsCurl
import EssentialsRequests
import FoundationEssentials

/// Signs requests for Amazon's services (Signature Version 4), with a fixed time.
struct SignatureVersion4: RequestInterceptor {
    var key = "AKIDEXAMPLE"
    var secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    var time = "20150830T123600Z"
    var scope = ["20150830", "us-east-1", "service", "aws4_request"]
    var signedFields = ["host", "x-amz-date"]

    func sign(_ request: inout EncodedRequest) async throws {
        let payload =
            switch request.content {
            case .none: Self.hexadecimal(try Self.sha256([]))
            case .bytes(let bytes): Self.hexadecimal(try Self.sha256(Array(bytes)))
            case .stream: "UNSIGNED-PAYLOAD"
            }
        request.headerFields.append(try .checked(name: "X-Amz-Date", value: time))
        var lines = [
            request.method.rawValue, String(request.url.path),
            (request.url.query ?? "").split(separator: "&").sorted().joined(separator: "&"),
        ]
        for name in signedFields {
            let field = try HTTPField.checked(name: name, value: "")
            lines.append("\(name):\(name == "host" ? request.host : request.headerFields[field.name] ?? "")")
        }
        lines += ["", signedFields.joined(separator: ";"), payload]
        let digest = Self.hexadecimal(try Self.sha256(Array(lines.joined(separator: "\n").utf8)))
        let text = ["AWS4-HMAC-SHA256", time, scope.joined(separator: "/"), digest].joined(separator: "\n")
        var derived = Array("AWS4\(secret)".utf8)
        for part in scope { derived = try Self.authenticated(part, by: derived) }
        request.headerFields[.authorization] =
            "AWS4-HMAC-SHA256 Credential=\(key)/\(scope.joined(separator: "/")), "
            + "SignedHeaders=\(signedFields.joined(separator: ";")), "
            + "Signature=\(Self.hexadecimal(try Self.authenticated(text, by: derived)))"
    }

    private static func sha256(_ bytes: [UInt8]) throws -> [UInt8] {
        let digest = try Checksum.sha256(String(repeating: "0", count: 64)).makeHash()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finish()
    }

    /// HMAC (RFC 2104) with SHA-256, for keys of at most 64 bytes.
    private static func authenticated(_ text: String, by key: [UInt8]) throws -> [UInt8] {
        let padded = key + [UInt8](repeating: 0, count: 64 - key.count)
        let inner = try sha256(padded.map { $0 ^ 0x36 } + Array(text.utf8))
        return try sha256(padded.map { $0 ^ 0x5c } + inner)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}
