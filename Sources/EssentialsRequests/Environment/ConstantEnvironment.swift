public import EssentialsHTTP

/// An environment that never changes.
///
/// ```swift
/// let environment = try ConstantEnvironment("https://api.example.com/v1/")
/// let fromVariables = try ConstantEnvironment(reading: { ProcessInfo.processInfo.environment[$0] })
/// ```
public struct ConstantEnvironment: EnvironmentService {
    /// The base URL, name, fields and policy that the initialiser was given.
    public let snapshot: EnvironmentSnapshot

    /// The URL that the initialiser was given.
    public var baseURL: RequestURL { snapshot.baseURL }
    /// The name that the initialiser was given.
    public var name: String { snapshot.name }
    /// The fields that the initialiser was given.
    public var headerFields: HTTPFields { snapshot.headerFields }
    /// The policy that the initialiser was given.
    public var trust: TrustPolicy? { snapshot.trust }

    /// Makes an environment from its base URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public init(
        _ baseURL: String, name: String = "", headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        snapshot = EnvironmentSnapshot(
            name: name, baseURL: try RequestURL(baseURL), headerFields: headerFields, trust: trust)
    }

    /// Makes an environment from values that were read elsewhere.
    public init(_ snapshot: EnvironmentSnapshot) { self.snapshot = snapshot }

    /// Reads an environment from variables, through any function that knows them.
    ///
    /// | variable | value |
    /// |---|---|
    /// | `API_BASE_URL` | the base URL; needed |
    /// | `API_NAME` | the environment's name |
    /// | `API_HEADERS` | fields, one `Name: value` a line |
    /// | `API_TRUST_POLICY` | the path of a policy file |
    ///
    /// ```swift
    /// let environment = try ConstantEnvironment(reading: { getenv($0).map { String(cString: $0) } }, prefix: "SHOP")
    /// ```
    ///
    /// - Parameters:
    ///   - lookup: Gives a variable's value. Called at most once for each, here.
    ///   - prefix: What stands before the underscore.
    /// - Throws: `invalidRequest` with the variable that is missing or wrong, `file` or `invalidPolicy` for the policy.
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
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let value = line[line.index(after: colon)...].drop(while: isBlank)
        let end = value.lastIndex { !isBlank($0) }.map { value.index(after: $0) } ?? value.startIndex
        return try .checked(name: String(Substring(line[..<colon])), value: String(Substring(value[..<end])))
    }

    private static func naming<Value>(
        _ variable: String, _ body: () throws(RequestFailure) -> Value
    ) throws(RequestFailure) -> Value {
        do throws(RequestFailure) {
            return try body()
        } catch {
            throw RequestFailure(
                error.reason, "The variable \(variable) is wrong: \(error.message)", remedy: error.remedy,
                underlying: error)
        }
    }
}
