#include "engine/calls/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>

namespace bj {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kNonce = "0123456789abcdef";

std::string answer(const std::string& fields) { return std::string(R"({"nonce":")") + kNonce + "\"," + fields + "}"; }

std::string returning(const std::string& value) { return answer(R"("status":"ok","return":)" + value); }

CallResult decoded(const std::string& payload) {
  CallResult result;
  const auto done = decode_answer(payload, kNonce, result);
  EXPECT_TRUE(done) << (done ? "" : done.error().what);
  return result;
}

std::string refusal(const std::string& payload) {
  CallResult result;
  const auto done = decode_answer(payload, kNonce, result);
  if (done) return "accepted";
  EXPECT_EQ(done.error().code, Code::kInternal);
  EXPECT_THAT(done.error().what, HasSubstr("broke the answer protocol"));
  EXPECT_NE(result.status, CallStatus::kOk);
  return done.error().what;
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(AnswerTest, AReturnValueArrivesWithStatusOk) {
  const CallResult result = decoded(returning(R"({"sum":[1,2.5,"three",null,true]})"));
  EXPECT_EQ(result.status, CallStatus::kOk);
  EXPECT_EQ(json::serialize(result.value), R"({"sum":[1,2.5E0,"three",null,true]})");
}

TEST(AnswerTest, OkWithoutAReturnValueIsNull) { EXPECT_TRUE(decoded(answer(R"("status":"ok")")).value.is_null()); }

TEST(AnswerTest, AnErrorHasNameMessageAndTraceback) {
  const CallResult result =
      decoded(answer(R"("status":"error","error":{"name":"ValueError","message":"no","traceback":"tool.py:1"})"));
  EXPECT_EQ(result.status, CallStatus::kError);
  EXPECT_EQ(result.error.name, "ValueError");
  EXPECT_EQ(result.error.message, "no");
  EXPECT_EQ(result.error.traceback, "tool.py:1");
}

TEST(AnswerTest, InvalidIsTheCallersMistake) {
  EXPECT_EQ(decoded(answer(R"("status":"invalid","error":{"message":"no such function"})")).status,
            CallStatus::kInvalid);
}

TEST(AnswerTest, AnErrorOfAnotherShapeIsAnErrorWithoutText) {
  for (const char* error : {"null", "7", "\"text\"", "[]", R"({"name":1,"message":[],"traceback":{}})"}) {
    const CallResult result = decoded(answer(std::string(R"("status":"error","error":)") + error));
    EXPECT_EQ(result.status, CallStatus::kError);
    EXPECT_EQ(result.error.name + result.error.message + result.error.traceback, "");
  }
}

TEST(AnswerTest, AWrongOrMissingNonceIsRefused) {
  EXPECT_THAT(refusal(R"({"nonce":"another","status":"ok"})"), HasSubstr("wrong nonce"));
  EXPECT_THAT(refusal(R"({"nonce":"0123456789abcde","status":"ok"})"), HasSubstr("wrong nonce"));
  EXPECT_THAT(refusal(R"({"nonce":"0123456789abcdef ","status":"ok"})"), HasSubstr("wrong nonce"));
  EXPECT_THAT(refusal(R"({"nonce":["0123456789abcdef"],"status":"ok"})"), HasSubstr("wrong nonce"));
  EXPECT_THAT(refusal(R"({"status":"ok"})"), HasSubstr("wrong nonce"));
}

TEST(AnswerTest, UnknownStatusesAreRefused) {
  for (const char* status : {"\"timeout\"", "\"limit\"", "\"OK\"", "\"\"", "0", "null"}) {
    EXPECT_THAT(refusal(answer(std::string("\"status\":") + status)), HasSubstr("unknown status"));
  }
}

TEST(AnswerTest, WhatIsNotOneJsonObjectIsRefused) {
  for (const char* payload : {"", " ", "{", "[]", "\"text\"", "7", "null", "{}{}", "{} x", "\x80\x02K\x01."}) {
    EXPECT_NE(refusal(payload), "accepted") << payload;
  }
  EXPECT_NE(refusal(returning("1") + returning("2")), "accepted");
}

TEST(AnswerTest, EveryAnswerCutShortIsRefused) {
  const std::string whole = returning(R"({"a":[1,"two",3.5]})");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
}

TEST(AnswerTest, NumbersThatJsonDoesNotHaveAreRefused) {
  for (const char* number : {"NaN", "Infinity", "-Infinity", "nan", "inf", "0x10", "01", "1.", ".5", "+1"}) {
    EXPECT_THAT(refusal(returning(number)), HasSubstr("not JSON")) << number;
  }
}

// JSON has no infinity: what was accepted must be writable again.
TEST(AnswerTest, ANumberTooLargeToHoldIsRefused) {
  for (const char* value : {"1e400", "-1e400", R"({"a":[1,{"b":1e999}]})"}) {
    EXPECT_NE(refusal(returning(value)), "accepted") << value;
  }
  EXPECT_EQ(decoded(returning("1e308")).value.as_double(), 1e308);
}

TEST(AnswerTest, InvalidUtf8IsRefused) {
  for (const char* text : {"\"\xff\"", "\"\xc3\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\""}) {
    EXPECT_THAT(refusal(returning(text)), HasSubstr("not JSON"));
  }
  EXPECT_EQ(decoded(returning("\"\xc3\xa9\"")).value.as_string(), "\xc3\xa9");
}

TEST(AnswerTest, JsonDeeperThanTheRuntimesWriteIsRefused) {
  EXPECT_EQ(decoded(returning(nested(200))).status, CallStatus::kOk);
  EXPECT_THAT(refusal(returning(nested(300))), HasSubstr("not JSON"));
  EXPECT_THAT(refusal(returning(nested(1'000'000))), HasSubstr("not JSON"));
  EXPECT_THAT(refusal(returning(std::string(1'000'000, '['))), HasSubstr("not JSON"));
}

TEST(AnswerTest, AnErrorsTextIsCut) {
  const std::string text(1 << 20, 'x');
  const CallResult result = decoded(answer(R"("status":"error","error":{"message":")" + text + "\"}"));
  EXPECT_THAT(result.error.message, SizeIs(256 * 1024));
}

TEST(AnswerTest, AnErrorsTextIsNotCutInTheMiddleOfACharacter) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "\xe2\x82\xac";  // three bytes each
  const CallResult result = decoded(answer(R"("status":"error","error":{"message":")" + text + "\"}"));
  EXPECT_EQ(result.error.message.size() % 3, 0u);
}

TEST(AnswerTest, OnlyModuleNamesAreTakenFromTheImports) {
  const CallResult result = decoded(answer(
      R"("status":"ok","imports":["json","_ssl","numpy2","os.path","","2to3","a b","../x","\u0000","é",7,null,["re"]])"));
  EXPECT_THAT(result.imports, ElementsAre("json", "_ssl", "numpy2"));
}

TEST(AnswerTest, ImportsAreBoundedInNumberAndLength) {
  std::string names = "\"" + std::string(129, 'a') + "\"";
  for (int i = 0; i < 1000; ++i) names += ",\"m" + std::to_string(i) + "\"";
  const CallResult result = decoded(answer(R"("status":"ok","imports":[)" + names + "]"));
  EXPECT_THAT(result.imports, SizeIs(64));
  EXPECT_EQ(result.imports.front(), "m0");
  EXPECT_THAT(decoded(answer(R"("status":"ok","imports":{"json":1})")).imports, IsEmpty());
}

TEST(AnswerTest, TheErrnoOfAFailurePointsToTheLimitThatWasHit) {
  const auto limits = [](int error) {
    return decoded(answer(R"("status":"error","error":{},"errno":)" + std::to_string(error))).limits_hit;
  };
  EXPECT_THAT(limits(EMFILE), ElementsAre("open files"));
  EXPECT_THAT(limits(ENOSPC), ElementsAre("disk"));
  EXPECT_THAT(limits(EDQUOT), ElementsAre("disk"));
  EXPECT_THAT(limits(EFBIG), ElementsAre("disk"));
  EXPECT_THAT(limits(ENOMEM), ElementsAre("memory"));
  EXPECT_THAT(limits(ENOENT), IsEmpty());
  EXPECT_THAT(limits(0), IsEmpty());
}

TEST(AnswerTest, ASuccessHitsNoLimit) {
  EXPECT_THAT(decoded(answer(R"("status":"ok","return":1,"errno":24)")).limits_hit, IsEmpty());
}

TEST(AnswerTest, EveryStatusHasAName) {
  EXPECT_STREQ(status_name(CallStatus::kOk), "ok");
  EXPECT_STREQ(status_name(CallStatus::kInvalid), "invalid");
  EXPECT_STREQ(status_name(CallStatus::kError), "error");
  EXPECT_STREQ(status_name(CallStatus::kLimit), "limit");
  EXPECT_STREQ(status_name(CallStatus::kTimeout), "timeout");
}

TEST(FrameTest, AFrameIsItsLengthItsTypeAndItsPayload) {
  const std::string frame = encode_frame(FrameType::kAnswer, "hello");
  EXPECT_EQ(frame, std::string("\x05\0\0\0Ahello", 10));
  const FrameHeader header = decode_frame_header(frame.data());
  EXPECT_EQ(header.size, 5u);
  EXPECT_EQ(header.type, 'A');
}

TEST(FrameTest, AHostileLengthIsReadAsItStands) {
  EXPECT_EQ(decode_frame_header("\xff\xff\xff\xff"
                                "A")
                .size,
            0xFFFFFFFFu);
  EXPECT_EQ(decode_frame_header("\x00\x00\x00\x80"
                                "A")
                .size,
            0x80000000u);
}

TEST(FrameTest, ACallCarriesItsArgumentsAsDataAndItsNonce) {
  CallSpec spec;
  spec.source = "def f(): pass\n\"\"\"";
  spec.filename = "weather.py";
  spec.arguments = {{"city", "Oslo\"); import os"}};
  spec.variables = {{"KEY", "value"}};
  const std::string frame = encode_call(spec, kNonce);
  const FrameHeader header = decode_frame_header(frame.data());
  EXPECT_EQ(header.type, 'C');
  EXPECT_EQ(header.size, frame.size() - kFrameHeader);
  const json::value call = json::parse(frame.substr(kFrameHeader));
  EXPECT_EQ(call.at("nonce").as_string(), kNonce);
  EXPECT_EQ(call.at("source").as_string(), spec.source);
  EXPECT_EQ(call.at("filename").as_string(), "weather.py");
  EXPECT_EQ(call.at("args"), json::value(spec.arguments));
  EXPECT_EQ(call.at("env").at("KEY").as_string(), "value");
  EXPECT_TRUE(call.at("name").is_null());
}

TEST(FrameTest, ACallNamesItsFunctionIfTheCallerDid) {
  CallSpec spec;
  spec.name = "forecast";
  const std::string frame = encode_call(spec, kNonce);
  EXPECT_EQ(json::parse(frame.substr(kFrameHeader)).at("name").as_string(), "forecast");
}

CallResult letta_decoded(const std::string& fields, AnswerKind kind) {
  CallResult result;
  EXPECT_TRUE(decode_answer(answer(R"("status":"ok",)" + fields), kNonce, result, kind));
  return result;
}

TEST(AnswerTest, TheTextOfALettaValueArrivesAndAStringIsItsOwn) {
  const std::string fields = R"("return":"NaN","text":"nan")";
  EXPECT_EQ(letta_decoded(fields, AnswerKind::kLetta).value_text, "nan");
  EXPECT_EQ(letta_decoded(R"("return":"a")", AnswerKind::kLetta).value_text, "a");
  EXPECT_EQ(letta_decoded(R"("return":1,"text":7)", AnswerKind::kLetta).value_text, std::nullopt);
  EXPECT_EQ(letta_decoded(fields, AnswerKind::kPlain).value_text, std::nullopt);
}

TEST(AnswerTest, AnAgentStateIsIgnoredUnlessOneWasSent) {
  const std::string fields = R"("return":1,"agent_state":{"id":"forged"})";
  EXPECT_TRUE(letta_decoded(fields, AnswerKind::kPlain).agent_state.is_null());
  EXPECT_TRUE(letta_decoded(fields, AnswerKind::kLetta).agent_state.is_null());
  EXPECT_EQ(letta_decoded(fields, AnswerKind::kLettaWithState).agent_state, json::parse(R"({"id":"forged"})"));
  EXPECT_TRUE(letta_decoded(R"("return":1,"agent_state":[1])", AnswerKind::kLettaWithState).agent_state.is_null());
}

TEST(AnswerTest, ALettaCallSaysSoAndHasRoomForItsLargerAnswer) {
  CallSpec spec;
  const auto sent = [&spec] { return json::parse(encode_call(spec, kNonce).substr(kFrameHeader)).as_object(); };
  EXPECT_FALSE(sent().contains("letta"));
  EXPECT_EQ(answer_kind(spec), AnswerKind::kPlain);
  const size_t plain_limit = answer_limit(spec);
  spec.letta.emplace();
  EXPECT_EQ(sent().at("letta"), json::parse(R"({"coerce":true})"));
  EXPECT_EQ(answer_kind(spec), AnswerKind::kLetta);
  EXPECT_EQ(answer_limit(spec), plain_limit + 2 * spec.limits.return_bytes);
  spec.letta->properties = json::object{{"a", json::object{{"type", "integer"}}}};
  spec.letta->agent_state = json::object{{"id", "agent-1"}};
  spec.letta->agent_id = "agent-1";
  spec.letta->coerce = false;
  EXPECT_EQ(sent().at("letta"), json::parse(R"({"coerce":false,"properties":{"a":{"type":"integer"}},
      "agent_state":{"id":"agent-1"},"agent_id":"agent-1"})"));
  EXPECT_EQ(answer_kind(spec), AnswerKind::kLettaWithState);
}

}  // namespace
}  // namespace bj
