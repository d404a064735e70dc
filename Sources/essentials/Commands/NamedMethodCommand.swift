import ArgumentParser
import ServiceEssentials

/// A command that is named after the method that it sends.
protocol NamedMethodCommand: RequestCommand {
    static var method: HTTPRequest.Method { get }
}

extension NamedMethodCommand {
    var method: HTTPRequest.Method { Self.method }

    /// Creates a description with the help text that all these commands share.
    static func describe(_ abstract: String, _ examples: String, further: String = "") -> CommandConfiguration {
        describe(method.rawValue.lowercased(), abstract, examples, further: further)
    }
}

/// A method whose command has no options of its own.
protocol NamedMethod {
    static var method: HTTPRequest.Method { get }
    /// What the method does, as help.
    static var abstract: String { get }
    /// Command lines, as help.
    static var examples: String { get }
}

/// `essentials get`
struct GetCommand: NamedMethodCommand {
    static let method = HTTPRequest.Method.get
    static let configuration = describe(
        "Get a resource.",
        """
          essentials get https://api.example.com/users --query role=admin
          essentials get https://example.com/file.zip --output file.zip
          essentials get users/1 --environment api.json --env staging
          ESSENTIALS_BEARER=$(cat token) essentials get https://api.example.com/me
          essentials get api.example.com --model-cache coins --source backendElseCache
          essentials get https://api.example.com/films --cache films --include
          essentials get https://localhost:8443/ --anchor ca.pem
          essentials get https://api.example.com/ --pin sha256/… --pin sha256/…
        """,
        further: """
            With --model-cache the response must be JSON, and is printed when it is complete. Each document ends in a line \
            break if another one follows. --include prints “source: cache, age: 12.3 s” before each one instead of the \
            header fields; it also names the failure that a cached document covers, which otherwise is a warning on \
            standard error. Such a failure is a success of the command; with --source cacheThenBackend, a failure after \
            the cached document is not. The statuses 404 and 410 remove the cached document.
            """)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var authorization: AuthorizationOptions
    @OptionGroup(title: "Request") var environment: EnvironmentOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Retries") var retry: RetryOptions
    @OptionGroup(title: "Cookies") var cookies: CookieOptions
    @OptionGroup(title: "Response cache") var responseCache: ResponseCacheOptions
    @OptionGroup(title: "Model cache") var modelCache: ModelCacheOptions
    @OptionGroup(title: "Output") var statuses: StatusOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var errors: ErrorOptions

    var models: ModelCacheOptions? { modelCache }
    var responses: ResponseCacheOptions? { responseCache }
}

/// A command for a method without a body.
struct ReadingCommand<Named: NamedMethod>: NamedMethodCommand {
    static var method: HTTPRequest.Method { Named.method }
    static var configuration: CommandConfiguration { describe(Named.abstract, Named.examples) }

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var authorization: AuthorizationOptions
    @OptionGroup(title: "Request") var environment: EnvironmentOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Retries") var retry: RetryOptions
    @OptionGroup(title: "Cookies") var cookies: CookieOptions
    @OptionGroup(title: "Output") var statuses: StatusOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var errors: ErrorOptions
}

/// A command for a method that may have a body, and that an outbox may keep.
struct WritingCommand<Named: NamedMethod>: NamedMethodCommand {
    static var method: HTTPRequest.Method { Named.method }
    static var configuration: CommandConfiguration { describe(Named.abstract, Named.examples) }

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var authorization: AuthorizationOptions
    @OptionGroup(title: "Request") var environment: EnvironmentOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Retries") var retry: RetryOptions
    @OptionGroup(title: "Cookies") var cookies: CookieOptions
    @OptionGroup(title: "Outbox") var kept: OutboxOptions
    @OptionGroup(title: "Output") var statuses: StatusOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var errors: ErrorOptions

    var body: BodyOptions? { content }
    var outbox: OutboxOptions? { kept }
}

/// `essentials head`
enum HeadMethod: NamedMethod {
    static let method = HTTPRequest.Method.head
    static let abstract = "Get a resource's status and header fields, without its body."
    static let examples = """
          essentials head https://example.com/file.zip
          essentials head https://example.com/ --http1.1 --timings
        """
}

/// `essentials options`
enum OptionsMethod: NamedMethod {
    static let method = HTTPRequest.Method.options
    static let abstract = "Get the communication options of a resource."
    static let examples = """
          essentials options https://api.example.com/users --include
          essentials options https://api.example.com/users --header 'Origin: https://example.com' \
        --header 'Access-Control-Request-Method: PUT' --include
        """
}

/// `essentials post`
enum PostMethod: NamedMethod {
    static let method = HTTPRequest.Method.post
    static let abstract = "Send a body for the resource to act on."
    static let examples = #"""
          essentials post https://api.example.com/users --json '{"name": "Ada"}'
          essentials post https://example.com/upload --data @photo.jpg
          essentials post https://example.com/search --form 'q=a b' --form page=2
          essentials post https://api.example.com/views --json '{"id": 7}' --outbox views
          essentials post https://example.com/films --part title=Summer --part 'film=@1.mp4;type=video/mp4'
        """#
}

/// `essentials put`
enum PutMethod: NamedMethod {
    static let method = HTTPRequest.Method.put
    static let abstract = "Replace a resource."
    static let examples = #"""
          essentials put https://api.example.com/users/1 --json '{"name": "Ada"}'
          generate | essentials put https://example.com/report --data @-
        """#
}

/// `essentials patch`
enum PatchMethod: NamedMethod {
    static let method = HTTPRequest.Method.patch
    static let abstract = "Change a part of a resource."
    static let examples = #"""
          essentials patch https://api.example.com/users/1 --json '{"name": "Ada"}'
          essentials patch https://example.com/doc --data @diff
        """#
}

/// `essentials delete`
enum DeleteMethod: NamedMethod {
    static let method = HTTPRequest.Method.delete
    static let abstract = "Delete a resource."
    static let examples = #"""
          essentials delete https://api.example.com/users/1
          essentials delete https://api.example.com/users/1 --expect 204,404
        """#
}
