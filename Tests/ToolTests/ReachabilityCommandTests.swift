import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: reachability")
    struct ReachabilityCommandTests {
        /// Whether tests can create networks on this machine: as root, with unshare(1) and iproute2.
        private static let canMakeNetworks = geteuid() == 0 && system("unshare -n ip link set lo up 2>/dev/null") == 0

        /// Runs a script in its own network namespace with the tool as `$0`, and returns its code and lines.
        private func script(_ text: String) async throws -> (code: Int32, lines: [Substring]) {
            let directory = try TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            let file = try directory.file("script", text)
            let output = directory.path + "/output"
            let tool = try #require(ToolProcess.executable)
            let code = try await Shell.command("unshare -n bash -c '. \(file)' \(tool) >\(output) 2>&1")
            let descriptor = open(output, O_RDONLY | O_CLOEXEC)
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            let count = max(0, read(descriptor, &bytes, bytes.count))
            let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
            return (code, lines)
        }

        @Test("This machine's own addresses are local", arguments: ["127.0.0.1", "::ffff:127.0.0.1", "localhost"])
        func local(host: String) async throws {
            let result = try await tool("reachability", host)
            #expect(result.code == 0)
            #expect(result.text == "local\n")
            #expect(result.errors.isEmpty)
        }

        @Test("The JSON output is an object with the host and the status")
        func json() async throws {
            let result = try await tool("reachability", "127.0.0.1", "--format", "json")
            #expect(result.code == 0)
            #expect(result.text == "{\"host\":\"127.0.0.1\",\"status\":\"local\"}\n")
        }

        @Test("The reachability of a name without an address is unknown and not a failure")
        func unknown() async throws {
            let result = try await tool("reachability", "label.\(String(repeating: "x", count: 60)).invalid")
            #expect(result.code == 0)
            #expect(result.text == "unknown\n")
        }

        @Test("An invalid host is refused", arguments: ["http://a.example/", "a b", ""])
        func refused(host: String) async throws {
            let result = try await tool("reachability", host)
            #expect(result.code == 64)
            #expect(result.reason == "invalidRequest")
            #expect(result.output.isEmpty)
        }

        @Test(
            "Without a network, hosts are unreachable, with the exit code 1",
            .enabled(if: canMakeNetworks, "needs root and iproute2"))
        func unreachable() async throws {
            let text = try await script("\"$0\" reachability; echo $?; \"$0\" reachability --format json")
            #expect(
                text.lines == [
                    "unreachable: Network is unreachable (101)", "1",
                    "{\"error\":{\"code\":101,\"text\":\"Network is unreachable\"},\"status\":\"unreachable\"}",
                ])
            #expect(text.code == 1)
        }

        @Test(
            "The interface of a route is printed", .enabled(if: canMakeNetworks, "needs root and iproute2"))
        func interface() async throws {
            let result = try await script(
                """
                ip link set lo up
                ip route add 8.8.8.8 dev lo
                "$0" reachability
                "$0" reachability 8.8.8.8 --format json
                """)
            let interface = "{\"index\":1,\"kind\":\"loopback\",\"name\":\"lo\"}"
            #expect(
                result.lines == [
                    "direct via lo (loopback)",
                    "{\"host\":\"8.8.8.8\",\"interface\":\(interface),\"status\":\"direct\"}",
                ])
            #expect(result.code == 0)
        }

        @Test(
            "The watch prints a line for each change until a signal arrives",
            .enabled(if: canMakeNetworks, "needs root and iproute2"))
        func watch() async throws {
            let result = try await script(
                """
                coproc TOOL { exec "$0" reachability 127.0.0.1 --watch; }
                exec 3<&${TOOL[0]}
                pid=$TOOL_PID
                read -t 20 -r line <&3; echo "$line"
                ip link set lo up
                read -t 20 -r line <&3; echo "$line"
                ip addr del 127.0.0.1/8 dev lo
                read -t 20 -r line <&3; echo "$line"
                kill -TERM $pid
                wait $pid
                echo $?
                """)
            let down = "unreachable: Network is unreachable (101)"
            #expect(
                result.lines == [
                    Substring(down), "local", Substring(down),
                    "error: cancelled: A signal ended the watch.",
                    "143",
                ])
        }
    }
}
