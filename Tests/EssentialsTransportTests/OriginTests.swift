import EssentialsTransport
import Testing

@Suite struct OriginTests {
    @Test(
        "The authority contains the port only if it is not the default",
        arguments: [
            (Origin.Scheme.https, "example.com", UInt16?.none, "example.com"),
            (.https, "example.com", 443, "example.com"), (.https, "example.com", 80, "example.com:80"),
            (.http, "example.com", nil, "example.com"), (.http, "example.com", 80, "example.com"),
            (.http, "example.com", 443, "example.com:443"), (.http, "127.0.0.1", 8080, "127.0.0.1:8080"),
            (.https, "::1", nil, "[::1]"), (.https, "[::1]", 8443, "[::1]:8443"),
        ])
    func authority(scheme: Origin.Scheme, host: String, port: UInt16?, expected: String) throws {
        let origin = Origin(scheme: scheme, host: try HostName(host), port: port)
        #expect(origin.authority == expected)
        #expect(origin.description == "\(scheme.rawValue)://\(expected)")
        #expect(origin.port == port ?? scheme.defaultPort)
    }

    @Test(
        "URLs of one origin have equal origins",
        arguments: [
            "https://example.com", "HTTPS://EXAMPLE.com/", "https://example.com.:443/a", "https://example.com:?q",
        ])
    func equal(text: String) throws {
        #expect(try RequestURL(text).origin == Origin(scheme: .https, host: HostName("example.com")))
    }

    @Test(
        "A different scheme, host or port is a different origin",
        arguments: [
            "http://example.com", "http://example.com:443", "https://www.example.com", "https://example.com:444",
        ])
    func different(text: String) throws {
        #expect(try RequestURL(text).origin != Origin(scheme: .https, host: HostName("example.com")))
    }
}
