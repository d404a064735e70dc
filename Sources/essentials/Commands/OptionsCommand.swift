import ArgumentParser
import ServiceEssentials

/// `essentials options`
struct OptionsCommand: NamedMethodCommand {
    static let method = HTTPRequest.Method.options
    static let configuration = describe(
        "Ask what can be done with a resource.",
        """
          essentials options https://api.example.com/users --include
          essentials options https://api.example.com/users --header 'Origin: https://example.com' \
        --header 'Access-Control-Request-Method: PUT' --include
        """)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions
}
