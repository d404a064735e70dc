import EssentialsHTTP

/// One authentication challenge of a server (RFC 9110, 11.6.1).
///
/// ```swift
/// let challenges = AuthenticationChallenge.all(in: response.headerFields)
/// let basic = challenges.first { $0.scheme == "basic" }
/// ```
struct AuthenticationChallenge: Sendable, Hashable {
    /// One parameter: a token, or a quoted string without its quotation marks and escapes.
    struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        let name: String
        let value: [UInt8]
    }

    /// The scheme's name in lower case.
    let scheme: String
    /// The token68 value that follows the scheme instead of parameters; `nil` if there is none.
    let token68: [UInt8]?
    /// The parameters in order. No name occurs twice.
    let parameters: [Parameter]

    /// The value of the parameter with a lower-case name.
    package subscript(name: String) -> [UInt8]? { parameters.first { $0.name == name }?.value }

    /// The well-formed challenges of all `WWW-Authenticate` fields, in order.
    ///
    /// Fields after the first 64 KiB are ignored, and so are challenges with more than 64 parameters or with a value
    /// over 8 KiB. At most 32 challenges are returned.
    static func all(in fields: HTTPFields) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        var room = ChallengeReader.maximumBytes
        for field in fields[fields: .wwwAuthenticate] {
            let bytes = field.withUnsafeBytesOfValue { Array($0) }
            guard bytes.count <= room else { break }
            room -= bytes.count
            challenges += ChallengeReader.challenges(in: bytes)
        }
        return Array(challenges.prefix(ChallengeReader.maximumChallenges))
    }

    /// The parameters of a field without a scheme, such as `Authentication-Info` (RFC 9110, 11.6.3). The result is
    /// empty if the field is malformed.
    static func parameters(of fields: HTTPFields, named name: HTTPField.Name) -> [Parameter] {
        guard let bytes = fields[fields: name].first?.withUnsafeBytesOfValue({ Array($0) }),
            bytes.count <= ChallengeReader.maximumBytes
        else { return [] }
        return ChallengeReader.parameters(in: bytes)
    }
}
