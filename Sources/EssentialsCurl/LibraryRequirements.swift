import CEssentials
import EssentialsTransport

/// The versions and features that libcurl and its TLS library must have.
enum LibraryRequirements {
    /// The libraries of this process.
    struct Facts: Sendable {
        var curlVersion: String
        var curlVersionNumber: UInt32
        var tlsVersion: String
        var openSSLVersionNumber: UInt
        var hasHTTP2: Bool
        var resolvesAsynchronously: Bool
    }

    /// Returns the facts of this process. The first call initialises libcurl.
    static func facts() -> Facts {
        let found = ce_libraries()
        return Facts(
            curlVersion: String(cString: found.curl_version), curlVersionNumber: found.curl_version_number,
            tlsVersion: String(cString: found.tls_version), openSSLVersionNumber: UInt(found.openssl_version_number),
            hasHTTP2: found.http2, resolvesAsynchronously: found.asynchronous_names)
    }

    /// Checks the libraries.
    ///
    /// - Throws: `tls`, with the version that was found and the version that is needed.
    static func check(_ facts: Facts) throws(RequestFailure) {
        guard facts.curlVersionNumber >= 0x07_58_00 else {
            throw failure("libcurl \(facts.curlVersion) was found; 7.88 or newer is needed.")
        }
        // The text is like "OpenSSL/3.0.22". If there are several backends, the inactive ones are in parentheses.
        guard facts.tlsVersion.hasPrefix("OpenSSL/3"), facts.openSSLVersionNumber >> 28 >= 3 else {
            throw failure("libcurl was found with the TLS library \(facts.tlsVersion); OpenSSL 3 is needed.")
        }
        guard facts.resolvesAsynchronously else {
            throw failure("libcurl \(facts.curlVersion) resolves names on the caller's thread.")
        }
    }

    private static func failure(_ message: String) -> RequestFailure {
        RequestFailure(
            .tls, message, remedy: "Install the OpenSSL flavour of libcurl 7.88 or newer (Debian: libcurl4).")
    }
}

extension CurlTransport {
    /// The versions of libcurl and its TLS library that this process uses, for reports.
    package static var libraryVersions: String {
        let facts = LibraryRequirements.facts()
        return "libcurl/\(facts.curlVersion) \(facts.tlsVersion)"
    }
}
