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
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var body: BodyOptions? { content }
}
