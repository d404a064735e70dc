import ArgumentParser
import ServiceEssentials

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
          essentials get https://localhost:8443/ --anchor ca.pem
          essentials get https://api.example.com/ --pin sha256/… --pin sha256/…
        """)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions
}
