import Encoding
import Testing

@Suite struct FormFieldsTests {
    @Test func `a plus sign and a blank survive the round trip`() throws {
        let form = FormFields([("login_hint", "ada+test@idp.test"), ("scope", "openid email"), ("empty", "")])
        #expect(
            String(decoding: form.encoded(), as: UTF8.self)
                == "login_hint=ada%2Btest%40idp.test&scope=openid%20email&empty=")
        #expect(try FormFields(decoding: form.encoded()) == form)
    }

    @Test func `a plus in a body is a blank`() throws {
        let form = try FormFields(decoding: Array("scope=openid+email&flag".utf8))
        #expect(form["scope"] == "openid email")
        #expect(form["flag"] == "")
        #expect(form["absent"] == nil)
    }

    @Test func `repeated names are kept and named`() throws {
        let form = try FormFields(decoding: Array("a=1&b=2&a=3&a=4".utf8))
        #expect(form.values("a") == ["1", "3", "4"])
        #expect(form.repeatedNames == ["a"])
    }

    @Test func `malformed percent and broken UTF-8 are refused`() {
        #expect(throws: EncodingError.malformedPercent(offset: 2)) { try FormFields(decoding: Array("a=%4".utf8)) }
        #expect(throws: EncodingError.malformedPercent(offset: 2)) { try FormFields(decoding: Array("a=%zz".utf8)) }
        #expect(throws: EncodingError.notUTF8) { try FormFields(decoding: Array("a=%ff".utf8)) }
    }

    @Test func `more fields than the limit are refused`() {
        let body = (0...FormFields.fieldLimit).map { "a\($0)=1" }.joined(separator: "&")
        #expect(throws: EncodingError.tooManyFields(limit: 256)) { try FormFields(decoding: Array(body.utf8)) }
    }

    @Test func `a form describes itself without its values`() {
        #expect(FormFields([("code", "secret-code")]).description == "form(code)")
    }

    @Test func `percent coding encodes all but unreserved bytes`() throws {
        #expect(PercentCoding.encode("a b/ü~") == "a%20b%2F%C3%BC~")
        #expect(try PercentCoding.decode("a%20b%2f%C3%BC~") == "a b/ü~")
        #expect(throws: EncodingError.notUTF8) { try PercentCoding.decode("%C3") }
    }
}
