import ArgumentParser
import ServiceEssentials

/// `essentials head`
struct HeadCommand: NamedMethodCommand {
    static let method = HTTPRequest.Method.head
    static let configuration = describe(
        "Get a resource's status and header fields, without its body.",
        """
          essentials head https://example.com/file.zip
          essentials head https://example.com/ --http1.1 --timings
        """)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions
}
