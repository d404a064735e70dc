import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct FormEncodingTests {
    private func query(_ parameters: FormParameters, _ encoding: FormEncoding = .standard) throws -> String {
        try encoding.query(parameters)
    }

    @Test(
        "A scalar is encoded as name=value",
        arguments: [
            ([:], ""), (["a": "1"], "a=1"), (["a": ""], "a="), (["": "v"], "=v"), (["a": 1, "b": -2], "a=1&b=-2"),
            (["a": true, "b": false], "a=1&b=0"), (["a": 1.5, "b": 1.0], "a=1.5&b=1"),
            (["a": UInt64.max, "b": Int64.min], "a=18446744073709551615&b=-9223372036854775808"),
            (["a": Date(timeIntervalSince1970: 1_451_606_399)], "a=2015-12-31T23%3A59%3A59Z"),
            (["a": Data([0xfb, 0xff])], "a=-_8"),
            (["role": "admin", "page": 2, "tags": ["a", "b"], "all": nil], "all&page=2&role=admin&tags[]=a&tags[]=b"),
        ] as [(FormParameters, String)])
    func scalars(parameters: FormParameters, query: String) throws {
        #expect(try self.query(parameters) == query)
    }

    @Test(
        "Names are sorted at every level without regard to case, and equal ones by their scalars",
        arguments: [
            (["b": 1, "A": 2, "a": 3, "C": 4], "A=2&a=3&b=1&C=4"),
            (["k": ["z": 1, "Y": 2, "x": 3]], "k[x]=3&k[Y]=2&k[z]=1"),
            (["aB": 1, "Ab": 2, "ab": 3, "AB": 4], "AB=4&Ab=2&aB=1&ab=3"), (["a10": 1, "a2": 2], "a10=1&a2=2"),
            (["É": 1, "é": 2, "z": 3], "z=3&%C3%89=1&%C3%A9=2"),
        ] as [(FormParameters, String)])
    func order(parameters: FormParameters, query: String) throws {
        #expect(try self.query(parameters) == query)
    }

    @Test(
        "Null is encoded as the name alone, omitted, empty or literal",
        arguments: [
            (FormEncoding.Null.keyOnly, "a&b[]&k[in]"), (.drop, ""), (.empty, "a=&b[]=&k[in]="),
            (.literal, "a=null&b[]=null&k[in]=null"),
        ])
    func null(form: FormEncoding.Null, query: String) throws {
        #expect(
            try self.query(
                ["a": nil, "b": [nil] as FormValue, "k": ["in": nil] as FormValue], FormEncoding(null: form)) == query)
        #expect(try self.query(["": nil]).isEmpty)
    }

    @Test(
        "An array keeps the order of its elements, and containers nest to any depth",
        arguments: [
            (["a": ["2", "1"]], "a[]=2&a[]=1"), (["a": ["x", nil]], "a[]=x&a[]"),
            (["a": [["x"], ["y"]]], "a[][]=x&a[][]=y"),
            (["a": [["b": 1], ["b": 2]]], "a[][b]=1&a[][b]=2"), (["k": ["b": ["x", "y"]]], "k[b][]=x&k[b][]=y"),
        ] as [(FormParameters, String)])
    func arrays(parameters: FormParameters, query: String) throws {
        #expect(try self.query(parameters) == query)
    }

    @Test(
        "An array is encoded with indices, repeated names or commas",
        arguments: [
            (
                FormEncoding.Arrays.indexed, ["a": ["x", ["y"], ["k": 1], nil] as FormValue],
                "a[0]=x&a[1][0]=y&a[2][k]=1&a[3]"
            ),
            (.repeat, ["a": ["x", ["y"], ["k": 1], nil] as FormValue], "a=x&a=y&a[k]=1&a"),
            (.comma, ["a": ["x,y", 2, true, nil, "é"] as FormValue], "a=x%2Cy,2,1,,%C3%A9"),
            (.comma, ["a": [] as FormValue, "b": ["x"]], "b=x"),
            (.comma, ["k": ["a": [1, 2]]], "k[a]=1,2"),
        ] as [(FormEncoding.Arrays, FormParameters, String)])
    func arrayForms(form: FormEncoding.Arrays, parameters: FormParameters, query: String) throws {
        #expect(try self.query(parameters, FormEncoding(arrays: form)) == query)
    }

    @Test("A container in a comma-separated array fails with encoding, and a dropped null leaves no comma")
    func commas() throws {
        let failure = try #require(throws: RequestFailure.self) {
            try query(["a": [["secret"]]], FormEncoding(arrays: .comma))
        }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains("“a”"))
        #expect(!failure.description.contains("secret"))
        #expect(try query(["a": [1, nil, 2]], FormEncoding(null: .drop, arrays: .comma)) == "a=1,2")
        #expect(try query(["a": [nil] as FormValue], FormEncoding(null: .literal, arrays: .comma)) == "a=null")
    }

    @Test(
        "The values of a set are encoded under the name itself, sorted by their encoded form",
        arguments: [
            (["a": FormValue.set(["b", "a", "c"])], "a=a&a=b&a=c"), (["a": FormValue.set([10, 9, 1])], "a=1&a=10&a=9"),
            (["a": FormValue.set([])], ""), (["a": FormValue.set([nil, "x"])], "a&a=x"),
            (["a": FormValue.set([["y"], ["x"]])], "a[]=x&a[]=y"), (["a": FormValue.set(["é", "z"])], "a=%C3%A9&a=z"),
            (["k": ["a": FormValue.set([2, 1])]], "k[a]=1&k[a]=2"),
        ] as [(FormParameters, String)])
    func sets(parameters: FormParameters, query: String) throws {
        for _ in 0..<5 { #expect(try self.query(parameters) == query) }
    }

    @Test(
        "The names of a nested dictionary are encoded in brackets to any depth",
        arguments: [
            (["k": ["in": "v"]], "k[in]=v"), (["k": ["in": nil] as FormValue], "k[in]"),
            (["k": ["b": ["c": ["d": "v"]]]], "k[b][c][d]=v"), (["k": ["": 1]], "k[]=1"),
        ] as [(FormParameters, String)])
    func nesting(parameters: FormParameters, query: String) throws {
        #expect(try self.query(parameters) == query)
    }

    @Test(
        "An empty array, set or dictionary is encoded as nothing, without a separator",
        arguments: [
            (["a": [] as FormValue], ""), (["a": [:] as FormValue], ""),
            (["a": 1, "b": [] as FormValue, "c": 2], "a=1&c=2"),
            (["a": 1, "b": [:] as FormValue], "a=1"),
            (["a": [[] as FormValue, [:] as FormValue, "x"] as FormValue], "a[]=x"),
            (["a": ["b": [] as FormValue]], ""), (["a": FormValue.set([]), "b": 1], "b=1"),
        ] as [(FormParameters, String)])
    func emptyContainers(parameters: FormParameters, query: String) throws {
        #expect(try self.query(parameters) == query)
    }

    @Test(
        "All characters except the unreserved ones are escaped, also brackets in names",
        arguments: [
            (["q": "a b&c=d+e/f?g#h%"], "q=a%20b%26c%3Dd%2Be%2Ff%3Fg%23h%25"), (["q": "AZaz09-._~"], "q=AZaz09-._~"),
            (["q": "é€😀"], "q=%C3%A9%E2%82%AC%F0%9F%98%80"), (["é k": "v"], "%C3%A9%20k=v"),
            (["a[b]": "v"], "a%5Bb%5D=v"), (["a": ["b]": "[v]"]], "a[b%5D]=%5Bv%5D"),
            (["q": "\r\n\u{0}"], "q=%0D%0A%00"), (["q": "*'()!"], "q=%2A%27%28%29%21"),
        ] as [(FormParameters, String)])
    func percentEncoding(parameters: FormParameters, query: String) throws {
        #expect(try self.query(parameters) == query)
    }

    @Test("The bytes of another charset are escaped, and a character that it cannot represent fails with encoding")
    func charsets() throws {
        let encoding = FormEncoding.standard
        #expect(try encoding.query(["é": "é a"], charset: .latin1) == "%E9=%E9%20a")
        #expect(try encoding.query(["q": "да"], charset: Charset("koi8-r")) == "q=%C4%C1")
        for charset in [Charset.latin1, .ascii, .utf16, .utf32LittleEndian] {
            let failure = try #require(throws: RequestFailure.self) { try encoding.query(["q": "€"], charset: charset) }
            #expect(failure.reason == .encoding)
        }
    }

    @Test(
        "Numbers are encoded without a fraction of zero",
        arguments: [
            (1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (-2.5, "-2.5"), (9_007_199_254_740_992, "9007199254740992"),
            (1e20, "1e%2B20"), (1e-7, "1e-07"),
        ])
    func numbers(value: Double, text: String) throws {
        #expect(try query(["n": value]) == "n=\(text)")
    }

    @Test("Booleans can be encoded as words")
    func booleans() throws {
        #expect(try query(["a": true, "b": false], FormEncoding(booleans: .literal)) == "a=true&b=false")
    }

    @Test(
        "Dates are encoded in the chosen format",
        arguments: [
            (FormEncoding.Dates.iso8601, 1.25, "1970-01-01T00%3A00%3A01Z"), (.seconds, 1.25, "1.25"),
            (.seconds, 7, "7"),
            (.milliseconds, 1.2504, "1250"), (.milliseconds, -1, "-1000"),
        ])
    func dates(form: FormEncoding.Dates, seconds: Double, text: String) throws {
        let parameters: FormParameters = ["d": Date(timeIntervalSince1970: seconds)]
        #expect(try query(parameters, FormEncoding(dates: form)) == "d=\(text)")
    }

    @Test("Data is encoded in the chosen alphabet")
    func data() throws {
        let parameters: FormParameters = ["d": Data([0xfb, 0xff, 0xfe, 0xff])]
        #expect(try query(parameters) == "d=-__-_w")
        #expect(try query(parameters, FormEncoding(data: .base64)) == "d=%2B%2F%2F%2B%2Fw%3D%3D")
    }

    @Test(
        "A number or date that cannot be encoded fails with a message that names its parameter",
        arguments: [1e300, -1e300, .infinity, .nan])
    func noForm(number: Double) throws {
        // Created here, because a test prints its arguments, and printing such a date traps.
        let date = FormValue.date(Date(timeIntervalSince1970: number))
        for value in number.isFinite ? [date] : [date, .number(number)] {
            let failure = try #require(throws: RequestFailure.self) { try query(["k": ["in": [value]]]) }
            #expect(failure.reason == .encoding)
            #expect(failure.message.contains("“k[in][]”"))
        }
    }

    @Test("64 levels are encoded, and more fail with encoding without a crash")
    func depth() throws {
        func nested(_ count: Int, _ wrap: (FormValue) -> FormValue) -> FormParameters {
            FormParameters(["a": (0..<count).reduce(1) { value, _ in wrap(value) }])
        }
        #expect(try query(nested(63) { [$0] }) == "a" + String(repeating: "[]", count: 63) + "=1")
        for wrap: (FormValue) -> FormValue in [{ [$0] }, { ["k": $0] }, { .array([$0, 1]) }] {
            for count in [64, 3000] {
                for arrays in [FormEncoding.Arrays.brackets, .repeat, .indexed] {
                    let failure = try #require(throws: RequestFailure.self) {
                        try query(nested(count, wrap), FormEncoding(arrays: arrays))
                    }
                    #expect(failure.reason == .encoding)
                    #expect(failure.message.contains("64"))
                }
            }
        }
    }
}
