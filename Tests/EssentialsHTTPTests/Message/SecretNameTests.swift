import EssentialsHTTP
import Testing

@Suite struct SecretNameTests {
    @Test(
        "Names of secrets are recognized by their words",
        arguments: [
            "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Cookie2", "X-Api-Key", "Api-Key", "ApiKey",
            "apikey", "X-Auth-Token", "X-Auth", "X-Auth-Key", "X-Auth-Email", "X-Otp", "X-OTP-Code", "X-Pin", "X-Jwt",
            "X-JWT-Assertion", "X-Hmac", "X-Hmac-SHA256", "X-Csrf-Token", "X-CSRFToken", "X-Xsrf-Token", "X-XSRF",
            "X-Amz-Security-Token", "X-Amz-Signature", "Private-Token", "X-Vault-Token", "X-Signature", "Signature",
            "Signature-Input", "X-Hub-Signature-256", "X-Goog-Api-Key", "X-Goog-IAM-Authority-Selector-Token",
            "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Session-Id", "X-SessionId", "X-Sid", "X-Client-Secret",
            "X-Password", "X_PASSWD", "X-Pwd", "X-Passphrase", "X-Credentials", "X-Credential", "DPoP", "X-Bearer",
            "WWW-Authenticate", "Authentication-Info", "X-Encryption-Key", "X-Rsa-Private-Key", "X-Sas-Sig",
            "X-Key", "Key", "KEY", "access_token", "accessToken", "client_secret", "api.key", "user[pin]", "token[]",
            "refreshtoken", "sessionid", "oauth_verifier", "PHPSESSIONID", "X--Pin", "_pin_", "pass",
        ])
    func secrets(name: String) {
        #expect(SecretName.isSecret(name))
        #expect(SecretName.isSecret(name.lowercased()))
        #expect(SecretName.isSecret(name.uppercased()))
    }

    @Test(
        "Names that only resemble those of secrets are not secret",
        arguments: [
            "Idempotency-Key", "Sec-WebSocket-Key", "Keep-Alive", "Author", "Authority", "X-Author-Id", "Surrogate-Key",
            "Cache-Key", "Accept", "Accept-Language", "User-Agent", "Content-Type", "ETag", "If-Match", "Range",
            "X-Shipping", "X-Spin", "Ping", "X-Passenger", "X-Compass", "Bypass", "X-Keyboard", "X-Monkey", "X-Hotkeys",
            "X-Design", "Design-Sigma", "X-Otpor", "X-Inside", "Priority", "X-Request-Id", "Traceparent", "Tracestate",
            "q", "page", "", "-", "---", "Referer", "Location", "Secure", "X-Authors", "X-Opinion",
        ])
    func harmless(name: String) {
        #expect(!SecretName.isSecret(name))
        #expect(!SecretName.isSecret(name.lowercased()))
        #expect(!SecretName.isSecret(name.uppercased()))
    }

    @Test(
        "The name of a query item is decoded first, and one that cannot be decoded counts as secret",
        arguments: [
            ("q", false), ("a%20b", false), ("%C3%A9", false), ("tok%65n", true), ("%zz", true), ("a%", true),
            ("a%2", true), ("%ff", true), ("%2574oken", true), ("", true),
        ])
    func encodedNames(name: String, isSecret: Bool) {
        #expect(SecretName.isSecret(encoded: name) == isSecret)
    }

    @Test("A non-ASCII word is not split into secret ones, and a very long name counts as secret")
    func oddNames() {
        #expect(!SecretName.isSecret("épiné"))
        #expect(!SecretName.isSecret("pin\u{0301}"))
        #expect(SecretName.isSecret(String(repeating: "a", count: 2000)))
        #expect(!SecretName.isSecret(String(repeating: "a-", count: 500)))
    }
}
