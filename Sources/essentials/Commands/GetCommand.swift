import ArgumentParser
import ServiceEssentials

/// `essentials get`
struct GetCommand: RequestCommand {
    static let method = HTTPRequest.Method.get
    static let configuration = describe(
        "Get a resource.",
        """
          essentials get https://api.example.com/users --query role=admin --header 'Accept: application/json'
          essentials get https://example.com/file.zip --output file.zip --max-body 200M --timeout 2m
          essentials get https://localhost:8443/ --anchor ca.pem --resolve localhost:8443:127.0.0.1
          essentials get https://api.example.com/ --pin sha256/… --pin sha256/… --timings
        """)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions
}
