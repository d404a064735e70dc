import ArgumentParser
import ServiceEssentials

/// `essentials request`
struct MethodCommand: RequestCommand {
    static let configuration = describe(
        "request", "Send a request with any method.",
        #"""
          essentials request REPORT https://example.com/calendar --data @query.xml --header 'Content-Type: text/xml'
          essentials request PURGE https://cache.example.com/page
        """#)

    @Argument(help: "The method. Methods are case-sensitive.", transform: MethodArgument.readExactly)
    var method: HTTPRequest.Method

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var authorization: AuthorizationOptions
    @OptionGroup(title: "Request") var environment: EnvironmentOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Retries") var retry: RetryOptions
    @OptionGroup(title: "Cookies") var cookies: CookieOptions
    @OptionGroup(title: "Output") var statuses: StatusOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var errors: ErrorOptions

    var body: BodyOptions? { content }
}
