import ArgumentParser
import ServiceEssentials

/// `essentials delete`
struct DeleteCommand: NamedMethodCommand {
    static let method = HTTPRequest.Method.delete
    static let configuration = describe(
        "Delete a resource.",
        #"""
          essentials delete https://api.example.com/users/1
          essentials delete https://api.example.com/users/1 --expect 204,404
        """#)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var body: BodyOptions? { content }
}
