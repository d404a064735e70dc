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

    @Argument(help: "The method. Methods are case-sensitive.", transform: Self.readMethod)
    var method: HTTPRequest.Method

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var body: BodyOptions? { content }

    static func readMethod(_ text: String) throws -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else {
            throw ValidationError("A method is one word of letters, digits and “-”, such as PURGE.")
        }
        // CONNECT creates a tunnel, not a response. TRACE must not carry credentials (RFC 9110,
        // sections 9.3.6 and 9.3.8).
        guard method != .connect, method != .trace else {
            throw ValidationError("CONNECT and TRACE are not supported. To tunnel through a proxy, use --proxy.")
        }
        return method
    }
}
