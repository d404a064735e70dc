import EssentialsRequests
import Testing

@Suite struct ParametersTests {
    @Test(
        "Values become the query they should",
        arguments: [
            ([:], ""), (["a": "1"], "a=1"), (["a": ""], "a="), (["a": nil], "a"), (["": "v"], "=v"),
            (["a": 1, "b": -2], "a=1&b=-2"), (["a": true, "b": false], "a=1&b=0"), (["a": 1.5, "b": 1.0], "a=1.5&b=1"),
            (["role": "admin", "page": 2, "tags": ["a", "b"], "all": nil], "all&page=2&role=admin&tags[]=a&tags[]=b"),
        ] as [(Parameters, String)])
    func scalars(parameters: Parameters, query: String) {
        #expect(parameters.query == query)
    }

    @Test(
        "Arrays keep their order and containers nest to any depth",
        arguments: [
            (["a": ["2", "1"]], "a[]=2&a[]=1"), (["a": ["x", nil]], "a[]=x&a[]"),
            (["a": [["x"], ["y"]]], "a[][]=x&a[][]=y"),
            (["a": [["b": 1], ["b": 2]]], "a[][b]=1&a[][b]=2"), (["k": ["in": "v"]], "k[in]=v"),
            (["k": ["in": nil]], "k[in]"),
            (["k": ["b": ["c": ["d": "v"]]]], "k[b][c][d]=v"), (["k": ["b": ["x", "y"]]], "k[b][]=x&k[b][]=y"),
        ] as [(Parameters, String)])
    func nesting(parameters: Parameters, query: String) {
        #expect(parameters.query == query)
    }

    @Test(
        "An empty container contributes nothing, not even a separator",
        arguments: [
            (["a": []], ""), (["a": [:]], ""), (["a": 1, "b": [], "c": 2], "a=1&c=2"), (["a": 1, "b": [:]], "a=1"),
            (["a": [[], [:], "x"]], "a[]=x"), (["a": ["b": []]], ""),
        ] as [(Parameters, String)])
    func emptyContainers(parameters: Parameters, query: String) {
        #expect(parameters.query == query)
    }

    @Test(
        "Names are sorted without regard to case at every level, equals by their scalars",
        arguments: [
            (["b": 1, "A": 2, "a": 3, "C": 4], "A=2&a=3&b=1&C=4"),
            (["k": ["z": 1, "Y": 2, "x": 3]], "k[x]=3&k[Y]=2&k[z]=1"),
            (["aB": 1, "Ab": 2, "ab": 3, "AB": 4], "AB=4&Ab=2&aB=1&ab=3"), (["a10": 1, "a2": 2], "a10=1&a2=2"),
        ] as [(Parameters, String)])
    func order(parameters: Parameters, query: String) {
        #expect(parameters.query == query)
    }

    @Test(
        "All but the unreserved characters is percent-encoded, brackets in a user's keys too",
        arguments: [
            (["q": "a b&c=d+e/f?g#h%"], "q=a%20b%26c%3Dd%2Be%2Ff%3Fg%23h%25"), (["q": "AZaz09-._~"], "q=AZaz09-._~"),
            (["q": "é€😀"], "q=%C3%A9%E2%82%AC%F0%9F%98%80"), (["é k": "v"], "%C3%A9%20k=v"),
            (["a[b]": "v"], "a%5Bb%5D=v"),
            (["a": ["b]": "[v]"]], "a[b%5D]=%5Bv%5D"), (["q": "\r\n\u{0}"], "q=%0D%0A%00"),
            (["q": "*'()!"], "q=%2A%27%28%29%21"),
        ] as [(Parameters, String)])
    func percentEncoding(parameters: Parameters, query: String) {
        #expect(parameters.query == query)
    }

    @Test(
        "Numbers are written without a needless fraction",
        arguments: [
            (1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (-2.5, "-2.5"), (9_007_199_254_740_992, "9007199254740992"),
            (1e20, "1e+20"),
        ])
    func numbers(value: Double, text: String) {
        #expect(Parameters.Value.number(value) == .text(text))
        #expect(Parameters.Value.number(UInt64.max) == .text("18446744073709551615"))
    }

    @Test("Of equal names in a literal the last wins")
    func duplicates() {
        let parameters: Parameters = ["a": 1, "a": 2]
        #expect(parameters.query == "a=2")
        #expect(Parameters(["a": "\(2)"]) == parameters)
    }
}
