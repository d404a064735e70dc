import ArgumentParser
import ServiceEssentials

/// `essentials patch`
struct PatchCommand: NamedMethodCommand {
    static let method = HTTPRequest.Method.patch
    static let configuration = describe(
        "Change a part of a resource.",
        #"""
          essentials patch https://api.example.com/users/1 --json '{"name": "Ada"}'
          essentials patch https://example.com/doc --data @diff
        """#)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var body: BodyOptions? { content }
}
