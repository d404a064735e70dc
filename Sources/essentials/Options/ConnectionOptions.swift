import ArgumentParser
import ServiceEssentials

/// How the request travels: addresses, deadlines, limits, protocol.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("resolve"),
        help: ArgumentHelp(
            "Connect to this address instead of asking the name service; IPv6 in brackets; repeatable.",
            valueName: "host:port:address"), transform: AddressOverrideArgument.read)
    var addressOverrides: [CurlTransport.AddressOverride] = []

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "For the whole exchange, such as 300ms, 5s, 2m; a plain number is seconds.", valueName: "time"),
        transform: DurationArgument.read)
    var total: Duration?

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp("For name resolution, connection and TLS together. (default: 10s)", valueName: "time"),
        transform: DurationArgument.read)
    var connect: Duration?

    @Option(
        name: .customLong("max-body"),
        help: ArgumentHelp(
            "The most bytes of the response's body, with k, M or G for powers of 1024. (default: no limit)",
            valueName: "bytes"), transform: ByteCount.init)
    var maximumBody: ByteCount?

    @Flag(name: .customLong("http1.1"), help: "Speak HTTP/1.1 only.")
    var speaksHTTP1 = false

    @Flag(name: .customLong("http2"), help: "Speak HTTP/2 or fail.")
    var speaksHTTP2 = false

    func validate() throws {
        if speaksHTTP1, speaksHTTP2 { throw ValidationError("Give --http1.1 or --http2, not both.") }
    }

    var transportOptions: TransportOptions {
        var options = TransportOptions()
        options.delivery = .streamed
        options.totalTimeout = total
        if let connect { options.connectTimeout = connect }
        if speaksHTTP1 { options.protocolVersion = .http1 }
        if speaksHTTP2 { options.protocolVersion = .http2 }
        return options
    }

    func configuration() -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        configuration.addressOverrides = addressOverrides
        configuration.userAgent = "essentials/\(EssentialsTool.configuration.version)"
        return configuration
    }
}
