import EssentialsTestKit
import EssentialsTransport
import FoundationEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: inspect and its demonstration", .timeLimit(.minutes(5)))
    struct InspectTests {
        @Test("The page and the health of a program that runs are received, and Ctrl-C ends the program")
        func program() async throws {
            let script = """
                coproc TOOL { exec essentials demo --inspect 2>errors; }
                exec 3<&${TOOL[0]}
                pid=$TOOL_PID
                read -t 60 -r word address <&3
                for ((n = 0; n < 100; n++)); do
                    essentials inspect "$address" --to page.html || break
                    grep -q '"served":[1-9]' page.html && grep -q '/v1/slow' page.html && break
                done
                echo "$word $(stat -c %a page.html)"
                for text in '"resources":[{' '"caches":[{' '"limits":[{' 'DataRequestService' '"reason":"cancelled"'; do
                    grep -qF "$text" page.html && echo "has $text"
                done
                essentials inspect "${address%token=*}token=wrong" --to other.html 2>wrong || echo "refused $?"
                grep -o 'error: status' wrong
                essentials health "$address" >health && echo "health $? $(head -1 health)"
                kill -INT $pid
                wait $pid
                echo "end $?"
                cat errors
                ls
                """
            let lines = try await Shell.run(script, in: TemporaryDirectory()).lines
            #expect(
                lines == [
                    "inspector: 600", "has \"resources\":[{", "has \"caches\":[{", "has \"limits\":[{",
                    "has DataRequestService", "has \"reason\":\"cancelled\"", "refused 1", "error: status",
                    "health 0 demo: ready, ok", "end 0", "errors", "health", "page.html", "wrong",
                ])
        }

        @Test("The address of an inspector on a Unix socket has the path of the socket")
        func socket() throws {
            let address = "unix:/run/a:/b/shop.sock:/?token=abc"
            #expect(RunningProgram.isAddress(address) && !RunningProgram.isAddress("./unix:a"))
            let program = try RunningProgram(address, socket: nil)
            #expect(program.socket == "/run/a:/b/shop.sock" && program.url.description == "http://localhost/?token=abc")
            for wrong in ["unix:", "unix:/run/shop.sock", "unix::/"] {
                #expect(throws: RequestFailure.self) { try RunningProgram(wrong, socket: nil) }
            }
        }

        @Test("An address that leads to something else is refused, and a Unix socket needs an address")
        func refused() async throws {
            let server = try LoopbackServer { _ in .response(body: "{}") }
            #expect(try await tool("inspect", server.url + "/", "--to", "/dev/null").reason == "decoding")
            #expect(try await tool("inspect", "a.har", "--unix-socket", "a").code == 64)
            #expect(try await tool("demo", "--inspect", "--graph").code == 64)
            #expect(try await tool("demo", "--inspect", "--resources").code == 64)
            server.stop()
        }
    }
}
