public import EssentialsHTTP

/// An environment that never changes.
///
/// ```swift
/// let environment = try ConstantEnvironment("https://api.example.com/v1/")
/// let fromVariables = try ConstantEnvironment(reading: { ProcessInfo.processInfo.environment[$0] })
/// ```
public struct ConstantEnvironment: EnvironmentService {
    /// The base URL, name, header fields and trust policy of the environment.
    public let snapshot: EnvironmentSnapshot

    /// The base URL.
    public var baseURL: RequestURL { snapshot.baseURL }
    /// The name of the environment. The default is empty.
    public var name: String { snapshot.name }
    /// The header fields for every request. The default is no fields.
    public var headerFields: HTTPFields { snapshot.headerFields }
    /// The trust policy. The default is `nil`, which means the policy of the service's transport.
    public var trust: TrustPolicy? { snapshot.trust }
    /// How requests are sent. The default is empty, which means the service's settings.
    public var settings: RequestSettings { snapshot.settings }
    /// Zero, because the environment never changes.
    public var version: UInt64? { 0 }

    /// Creates an environment with a base URL.
    ///
    /// - Throws: `invalidRequest` if the URL is invalid.
    public init(
        _ baseURL: String, name: String = "", headerFields: HTTPFields = [:], trust: TrustPolicy? = nil,
        settings: RequestSettings = RequestSettings()
    ) throws(RequestFailure) {
        snapshot = EnvironmentSnapshot(
            name: name, baseURL: try RequestURL(baseURL), headerFields: headerFields, trust: trust, settings: settings)
    }

    /// Creates an environment from a snapshot.
    public init(_ snapshot: EnvironmentSnapshot) { self.snapshot = snapshot }

    /// Reads an environment from variables, through a function that looks them up.
    ///
    /// | variable | value |
    /// |---|---|
    /// | `API_BASE_URL` | the base URL; required |
    /// | `API_NAME` | the environment's name |
    /// | `API_HEADERS` | header fields, one `Name: value` per line |
    /// | `API_TRUST_POLICY` | the path of a trust policy file |
    ///
    /// ```swift
    /// let environment = try ConstantEnvironment(reading: { getenv($0).map { String(cString: $0) } }, prefix: "SHOP")
    /// ```
    ///
    /// - Parameters:
    ///   - lookup: Returns the value of a variable, or `nil` if it is not set. It is called only by the initialiser, at
    ///     most once for each variable.
    ///   - prefix: The prefix of the variables' names. The default is `API`.
    /// - Throws: `invalidRequest` with the name of the missing or invalid variable; `file` or `invalidPolicy` for the
    ///   policy file.
    public init(reading lookup: (String) -> String?, prefix: String = "API") throws(RequestFailure) {
        guard let text = lookup("\(prefix)_BASE_URL"), !text.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The variable \(prefix)_BASE_URL is not set.",
                remedy: "Set it to the base URL, such as https://api.example.com/v1/.")
        }
        let baseURL = try Self.naming("\(prefix)_BASE_URL") { () throws(RequestFailure) in try RequestURL(text) }
        var fields = HTTPFields()
        for line in (lookup("\(prefix)_HEADERS") ?? "")[...].utf8.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            let field = try Self.naming("\(prefix)_HEADERS") { () throws(RequestFailure) in try Self.field(line) }
            fields.append(field)
        }
        var trust: TrustPolicy?
        if let path = lookup("\(prefix)_TRUST_POLICY"), !path.isEmpty { trust = try TrustPolicy(contentsOfFile: path) }
        snapshot = EnvironmentSnapshot(
            name: lookup("\(prefix)_NAME") ?? "", baseURL: baseURL, headerFields: fields, trust: trust)
    }

    private static func field(_ line: Substring.UTF8View) throws(RequestFailure) -> HTTPField {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw RequestFailure(
                .invalidRequest, "A line has no colon.", remedy: "Write each field as “Name: value” on its own line.")
        }
        let value = line[line.index(after: colon)...].drop(while: \.isBlank)
        let end = value.lastIndex { !$0.isBlank }.map { value.index(after: $0) } ?? value.startIndex
        return try .checked(name: String(Substring(line[..<colon])), value: String(Substring(value[..<end])))
    }

    private static func naming<Value>(
        _ variable: String, _ body: () throws(RequestFailure) -> Value
    ) throws(RequestFailure) -> Value {
        do throws(RequestFailure) {
            return try body()
        } catch {
            throw RequestFailure(
                error.reason, "The variable \(variable) is invalid: \(error.message)", remedy: error.remedy,
                underlying: error)
        }
    }
}
