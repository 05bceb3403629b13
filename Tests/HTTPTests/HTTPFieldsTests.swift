import HTTP
import Testing

struct HTTPFieldsTests {
    private let fields: HTTPFields = ["A": "1", "DPoP": "one", "b": "2", "dpop": "two"]

    @Test func `names are found without regard to case, in order`() {
        #expect(fields["dPoP"] == "one")
        #expect(fields.values("DPOP") == ["one", "two"])
        #expect(fields["c"] == nil)
        #expect(fields.contains("B"))
        #expect(fields.map(\.name) == ["A", "DPoP", "b", "dpop"])
    }

    @Test func `only ASCII letters fold`() {
        #expect(HTTPFields([("K", "1")])["\u{212A}"] == nil)
        #expect(HTTPFields([("a[", "1")])["A{"] == nil)
        #expect(HTTPFields([("@", "1")])["`"] == nil)
    }

    @Test func `setting leaves one field at the place of the first`() {
        var changed = fields
        changed.set("dpop", "three")
        #expect(changed.map(\.name) == ["A", "dpop", "b"])
        #expect(changed.values("DPoP") == ["three"])
        changed["New"] = "4"
        changed["a"] = nil
        #expect(changed.map(\.name) == ["dpop", "b", "New"])
        changed.append("new", "5")
        #expect(changed.values("New") == ["4", "5"])
        changed.remove("NEW")
        #expect(changed.count == 2)
    }

    @Test func `equality ignores the case of names but not of values, nor order`() {
        #expect(fields == ["a": "1", "dpop": "one", "B": "2", "DPOP": "two"])
        #expect(fields != ["a": "1", "dpop": "One", "B": "2", "DPOP": "two"])
        #expect(fields != ["dpop": "one", "a": "1", "B": "2", "DPOP": "two"])
        #expect(HTTPField(name: "a", value: "e\u{301}") != HTTPField(name: "a", value: "\u{E9}"))
    }

    @Test func `list members are split over fields and trimmed`() {
        let list: HTTPFields = ["Connection": " a ,,\tB", "connection": "c,"]
        #expect(list.tokens("CONNECTION") == ["a", "B", "c"])
        #expect(list.hasToken("b", in: "Connection"))
        #expect(!list.hasToken("", in: "Connection"))
        #expect(!list.hasToken("a", in: "Expect"))
    }

    @Test func `descriptions hold no values`() {
        let secret: HTTPFields = ["Authorization": "DPoP hunter2"]
        let request = HTTPRequest(method: "GET", target: "/cb?code=hunter2", fields: secret, body: [1])
        let response = HTTPResponse(status: 200, fields: secret, body: Array("hunter2".utf8))
        for text in [
            "\(secret)", String(reflecting: secret), "\(secret[0])", "\(request)", String(reflecting: request),
            "\(request.head)", "\(response)", String(reflecting: response), "\(response.head)",
        ] {
            #expect(!text.contains("hunter2"), "\(text)")
        }
    }
}

struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", true), ("Application/JSON; charset=utf-8", true), ("application/problem+json", true),
        ("image/svg+JSON", true), ("application/json;", true), ("application/json ; a=b;c=\"d;e\"", true),
        ("text/json", false), ("application/+json", false), ("application/jsonp", false), ("text/html", false),
    ])
    func `any JSON type is known`(text: String, isJSON: Bool) throws {
        #expect(try #require(MediaType(text)).isJSON == isJSON)
    }

    @Test(arguments: [
        "", "json", "/json", "application/", "application /json", "application/json; charset", "a/b; c = d",
        "a/b; c=\"d", "a/b; c=\"d\\", "a/b, c/d", "a/b c", "a/b;c=;d=e",
    ])
    func `a malformed type is nil`(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test func `parameters are unquoted and found without regard to case`() throws {
        let type = try #require(MediaType("Multipart/Form-Data; Boundary=\"a\\\"b; c\";x=Y"))
        #expect(type.essence == "multipart/form-data")
        #expect(type[parameter: "boundary"] == "a\"b; c")
        #expect(type[parameter: "X"] == "Y")
        #expect(type[parameter: "z"] == nil)
    }

    @Test func `a message has a media type only when Content-Type occurs once`() {
        let form: HTTPFields = ["content-type": "application/x-www-form-urlencoded"]
        #expect(HTTPRequest(method: "POST", target: "/", fields: form).mediaType?.isForm == true)
        #expect(MediaType(fields: [:]) == nil)
        #expect(MediaType(fields: ["Content-Type": "a/b", "content-type": "a/b"]) == nil)
    }
}
