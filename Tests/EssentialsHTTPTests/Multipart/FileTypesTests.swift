import FoundationEssentials
import Testing

@testable import EssentialsHTTP

@Suite struct FileTypesTests {
    @Test(
        "The extension determines the type regardless of case",
        arguments: [
            ("a.png", "image/png"), ("A.PNG", "image/png"), ("a.b.JPeG", "image/jpeg"),
            ("a.tar.gz", "application/gzip"),
            ("film.mp4", "video/mp4"), ("a b.json", "application/json"), ("ä.svg", "image/svg+xml"),
            ("x/y.d/z.csv", "text/csv"), ("notes.md", "text/markdown"), ("a..txt", "text/plain"),
            ("…pdf.pdf", "application/pdf"),
        ])
    func known(name: String, type: String) { #expect(FileTypes.type(ofFileNamed: name) == type) }

    @Test(
        "Without a known extension there is no type",
        arguments: ["", "png", ".png", "a.", "a.unknown", "a.png/b", ".", "..", "a.png ", "a/.png", "a.pñg"])
    func unknown(name: String) { #expect(FileTypes.type(ofFileNamed: name) == nil) }

    @Test("A part whose name has no known extension is sent as an octet stream")
    func octets() throws {
        #expect(try MultipartPart.data(Data(), name: "a", fileName: "b.unknown").type == "application/octet-stream")
    }
}
