import EssentialsHTTP

/// One challenge of a server: what it wants to know before it answers (RFC 9110, 11.6.1).
///
/// ```swift
/// let challenges = AuthenticationChallenge.all(in: response.headerFields)
/// let basic = challenges.first { $0.scheme == "basic" }
/// ```
struct AuthenticationChallenge: Sendable, Hashable {
    /// One parameter, as a token or a quoted string without its quotation marks and escapes.
    struct Parameter: Sendable, Hashable {
        /// In lower case.
        let name: String
        let value: [UInt8]
    }

    /// The scheme's name in lower case.
    let scheme: String
    /// What stands behind the scheme instead of parameters.
    let token68: [UInt8]?
    /// In their order; no name twice.
    let parameters: [Parameter]

    /// The value of a parameter, by its name in lower case.
    package subscript(name: String) -> [UInt8]? { parameters.first { $0.name == name }?.value }

    /// The well-formed challenges of all `WWW-Authenticate` fields, in their order. Of the fields 64 KiB are read; a
    /// challenge with more than 64 parameters, or with one over 8 KiB, is none, and there are 32 at most.
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

    /// The parameters of a field that is a list of them without a scheme, such as `Authentication-Info` (RFC 9110,
    /// 11.6.3); none when it is not well formed.
    static func parameters(of fields: HTTPFields, named name: HTTPField.Name) -> [Parameter] {
        guard let bytes = fields[fields: name].first?.withUnsafeBytesOfValue({ Array($0) }),
            bytes.count <= ChallengeReader.maximumBytes
        else { return [] }
        return ChallengeReader.parameters(in: bytes)
    }
}
