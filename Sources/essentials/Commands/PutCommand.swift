import ArgumentParser
import ServiceEssentials

/// `essentials put`
struct PutCommand: NamedMethodCommand {
    static let method = HTTPRequest.Method.put
    static let configuration = describe(
        "Replace a resource.",
        #"""
          essentials put https://api.example.com/users/1 --json '{"name": "Ada"}'
          generate | essentials put https://example.com/report --data @-
        """#)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var body: BodyOptions? { content }
}
