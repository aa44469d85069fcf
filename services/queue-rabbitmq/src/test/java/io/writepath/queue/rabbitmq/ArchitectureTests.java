package io.writepath.queue.rabbitmq;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.writepath.testsupport.ArchitectureRules;

@AnalyzeClasses(packages = "io.writepath", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

    @ArchTest
    static final ArchTests rules = ArchTests.in(ArchitectureRules.class);
}
