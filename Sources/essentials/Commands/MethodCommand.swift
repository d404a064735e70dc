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

    @Argument(help: "The method, which servers tell from others by its case too.", transform: Self.readMethod)
    var method: HTTPRequest.Method

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var body: BodyOptions? { content }

    private static func readMethod(_ text: String) throws -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else {
            throw ValidationError("A method is one word of letters, digits and “-”, such as PURGE.")
        }
        // CONNECT makes a tunnel instead of an answer; TRACE may carry no credentials (RFC 9110, 9.3.6 and 9.3.8).
        guard method != .connect, method != .trace else {
            throw ValidationError("CONNECT and TRACE are not sent; for a tunnel name the proxy with --proxy.")
        }
        return method
    }
}
